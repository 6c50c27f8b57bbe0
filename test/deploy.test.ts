import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { parse } from 'yaml';
import { parseConfig } from '../src/config/parse-config.ts';
import { stopMarginMs } from '../src/lib/async/shutdown.ts';
import { createServer } from '../src/lib/net/node-http.ts';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { blocksOf } from './support/documents.ts';

const root = path.join(import.meta.dirname, '..');
const folder = path.join(root, 'examples/deploy');
const read = (name: string): string => readFileSync(path.join(folder, name), 'utf8');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  files: string[];
  engines: { node: string };
};
const dockerfile = read('Dockerfile').replace(/\\\n/g, '');
const unit = read('skillet.service');

type Service = Readonly<{
  build?: { context: string; dockerfile: string };
  stop_grace_period: string;
  init?: boolean;
  mem_limit?: string;
  pids_limit?: number;
  env_file?: string;
  environment: Record<string, string>;
  volumes: readonly string[];
}>;
const compose = parse(read('compose.yaml')) as {
  services: Readonly<{ bot: Service; postgres: Service & { profiles: string[]; healthcheck: unknown } }>;
  volumes: Record<string, unknown>;
};

test('L7 L11 the image names paths and commands that exist, and does not run as root', () => {
  const instructions = dockerfile.split('\n').filter((line) => /^[A-Z]/.test(line));
  const froms = instructions.filter((line) => line.startsWith('FROM '));
  const [, major = ''] = /(\d+)/.exec(manifest.engines.node) ?? [];
  const [, base = ''] = /^ARG NODE_IMAGE=(.+)$/m.exec(dockerfile) ?? [];
  assert.match(base, new RegExp(`^node:${major}-[a-z-]+@sha256:[0-9a-f]{64}$`));
  for (const from of froms) assert.match(from, /^FROM \$\{NODE_IMAGE\}( AS \w+)?$/);
  const stages = froms.flatMap((from) => / AS (\w+)/.exec(from)?.[1] ?? []);
  for (const [, stage = ''] of dockerfile.matchAll(/--from=(\w+)/g)) assert.ok(stages.includes(stage), stage);
  // What is unpacked below /opt/skillet is the package.
  for (const [, name = ''] of dockerfile.matchAll(/\/opt\/skillet\/([\w./-]+)/g))
    assert.ok(isPacked(name) && existsSync(path.join(root, name)), name);
  const last = instructions.slice(instructions.lastIndexOf(froms.at(-1) ?? ''));
  assert.ok(last.includes('USER node'));
  assert.ok(last.indexOf('USER node') < last.findIndex((line) => line.startsWith('ENTRYPOINT')));
});

/** A file of the package, or a folder of one. */
function isPacked(name: string): boolean {
  return manifest.files.some((packed) => path.matchesGlob(name, packed) || packed.startsWith(`${name}/`));
}

test('L7 L11 no script of a development package runs while the image is made, and containers have limits', () => {
  const [install = ''] = /^RUN npm ci.*npm pack.*$/m.exec(dockerfile) ?? [];
  assert.match(install, /^RUN npm ci --ignore-scripts && /);
  // Node comes with the image: the stub of the package that would bring one is not found first.
  assert.ok(install.indexOf('rm -f node_modules/.bin/node') < install.indexOf('npm pack'));
  for (const service of Object.values(compose.services)) {
    assert.match(service.mem_limit ?? '', /^\d+g$/);
    assert.ok((service.pids_limit ?? 0) > 128, 'more than [sandbox] processes');
  }
});

test('L11 the health check of the image tells a bot that accepts messages from one that does not', async (t) => {
  const [, command = '[]'] = /^HEALTHCHECK .*CMD (\[.*\])$/m.exec(dockerfile) ?? [];
  const [program = '', ...args] = JSON.parse(command) as string[];
  assert.equal(program, 'node');
  const { listen } = serverOf(read('skillet.toml'));
  assert.ok(args.at(-1)?.includes(`http://${listen}/readyz`));
  let status = 200;
  const server = createServer((_, response) => void response.writeHead(status).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const check = (): Promise<unknown> =>
    promisify(execFile)(
      process.execPath,
      args.map((arg) => arg.replace(listen, `127.0.0.1:${port}`)),
    );
  await check();
  status = 503;
  await assert.rejects(check());
});

function serverOf(toml: string): { listen: string } {
  return { listen: /^listen = "(.*)"$/m.exec(toml)?.[1] ?? '' };
}

test('L7 L11 compose.yaml fits the image and the configuration beside it', () => {
  const { bot, postgres } = compose.services;
  assert.equal(bot.init, true);
  const { context = '', dockerfile: file = '' } = bot.build ?? {};
  assert.equal(path.join(folder, context), `${root}${path.sep}`.replace(/\/$/, ''));
  assert.ok(existsSync(path.join(folder, context, file)));
  for (const volume of [...bot.volumes, ...postgres.volumes]) {
    const [source = ''] = volume.split(':');
    assert.ok(
      source.startsWith('./') ? existsSync(path.join(folder, source)) : source in compose.volumes,
      volume,
    );
  }
  // Whose tokens these are the config says, not this file.
  assert.equal(bot.env_file, '.env');
  assert.doesNotMatch(JSON.stringify(bot.environment), /:\?|TOKEN|API_KEY/);
  const names = [...read('skillet.toml').matchAll(/"\$(\w+)"/g)].map(([, name = '']) => name);
  const env = Object.fromEntries(names.map((name) => [name, `${name}-0123456789`]));
  const [, SKILLET_DATA_DIR = ''] = /^SKILLET_DATA_DIR=(.+)$/m.exec(read('container.sh')) ?? [];
  const url = /:-(.*)\}$/.exec(bot.environment['SKILLET_STORE_URL'] ?? '')?.[1];
  const slackAlone = read('skillet.toml')
    .replace(/^\[telegram\]\n.*\n/m, '')
    .replace(/^# (?=\[slack|bot_token|app_token|\[models|model =|base_url)/gm, '');
  const stores = [url, 'postgres://skillet:secret@postgres/skillet'];
  for (const [SKILLET_STORE_URL, toml] of stores.flatMap((store) =>
    [read('skillet.toml'), slackAlone].map((text) => [store, text] as const),
  )) {
    const parsed = parseConfig(toml, {
      file: '/etc/skillet/config.toml',
      env: { ...env, SKILLET_DATA_DIR, SKILLET_STORE_URL },
    });
    assert.ok(parsed.ok, JSON.stringify(parsed));
    const { bot: places, capabilities } = parsed.config;
    for (const place of [places.dataDir, places.workspace, capabilities.keyFile ?? ''])
      assert.ok(
        bot.volumes.some((volume) => place.startsWith(`${volume.split(':')[1]}/`)),
        place,
      );
  }
  assert.deepEqual(postgres.profiles, ['postgres']);
});

test(
  'Q9 L11 each container has a data directory that no other holds, free again once its bot is dead',
  { skip: spawnSync('flock', ['--version']).status === 0 ? false : 'flock is not here' },
  async (t) => {
    const home = await mkdtemp(path.join(tmpdir(), 'skillet-containers-'));
    const running: ChildProcess[] = [];
    t.after(async () => {
      for (const child of running) child.kill('SIGKILL');
      await rm(home, { recursive: true, force: true });
    });
    // A bot leaves a child behind, which does not hold the directory.
    const bot = `const { SKILLET_DATA_DIR } = process.env;
      if (process.argv[2] !== 'start') console.log(SKILLET_DATA_DIR);
      else {
        const { pid } = require('node:child_process').spawn('sleep', ['60'], { stdio: 'ignore' });
        process.on('SIGTERM', () => process.exit(7));
        console.log(JSON.stringify({ folder: SKILLET_DATA_DIR, pid }));
      }`;
    await writeFile(path.join(home, 'bot.cjs'), bot);
    await mkdir(path.join(home, 'shared'));

    const command = async (container: string, name: string): Promise<ChildProcess> => {
      const own = path.join(home, container);
      await mkdir(own, { recursive: true });
      const script = read('container.sh')
        .replace('/tmp/', `${own}/`)
        .replaceAll('/var/lib/skillet', path.join(home, 'shared'))
        .replace('/opt/skillet/bin/skillet.js', path.join(home, 'bot.cjs'));
      const PATH = [path.dirname(process.execPath), process.env['PATH']].join(path.delimiter);
      const child = spawn('sh', ['-c', script, 'sh', name], {
        env: { PATH },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      running.push(child);
      return child;
    };
    const start = async (container: string): Promise<{ child: ChildProcess; folder: string }> => {
      const child = await command(container, 'start');
      const { folder, pid } = JSON.parse(await firstLine(child)) as { folder: string; pid: number };
      t.after(() => process.kill(pid, 'SIGKILL'));
      return { child, folder: path.relative(path.join(home, 'shared'), folder) };
    };

    const [a, b, c] = await Promise.all([start('a'), start('b'), start('c')]);
    assert.deepEqual([a, b, c].map(({ folder }) => folder).sort(), ['data', 'data-2', 'data-3']);
    assert.equal(await firstLine(await command('b', 'doctor')), path.join(home, 'shared', b.folder));
    assert.equal(await firstLine(await command('none', 'doctor')), path.join(home, 'shared/data'));
    const killed = once(b.child, 'exit');
    b.child.kill('SIGKILL');
    await killed;
    assert.equal((await start('d')).folder, b.folder);
    const stopped = once(c.child, 'exit');
    c.child.kill('SIGTERM');
    assert.deepEqual(await stopped, [7, null], 'signals reach the bot');
    assert.equal((await start('c')).folder, c.folder);
  },
);

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  assert.ok(stdout);
  for await (const line of createInterface({ input: stdout })) return line;
  throw new Error('it ended and said nothing');
}

test('L7 L11 the unit starts the packed program and is what systemd reads', (t) => {
  const [, file = ''] = /^ExecStart=\/usr\/bin\/node .*\/opt\/skillet\/(\S+) start$/m.exec(unit) ?? [];
  assert.ok(manifest.files.includes(file) && existsSync(path.join(root, file)));
  for (const line of ['Type=notify', 'NotifyAccess=all', 'NoNewPrivileges=yes', 'Delegate=yes'])
    assert.ok(unit.split('\n').includes(line), line);
  assert.match(unit, /^WatchdogSec=\d+$/m);
  const page = readFileSync(path.join(root, 'docs/how-to/deploy.md'), 'utf8');
  for (const [, name = ''] of `${unit}${page}`.matchAll(/\/opt\/skillet\/([\w./@-]+\w)/g))
    assert.ok(isPacked(name) && existsSync(path.join(root, name)), name);
  const state = `/var/lib/${/^StateDirectory=(.+)$/m.exec(unit)?.[1]}/`;
  const [written] = blocksOf(page).filter(({ language }) => language === 'toml');
  const parsed = parseConfig(written?.text ?? '', { file: '/etc/skillet/config.toml', env: {} });
  assert.ok(parsed.ok);
  for (const place of [parsed.config.bot.dataDir, parsed.config.bot.workspace])
    assert.ok(place.startsWith(state), `${place}: the unit lets it write below ${state} only`);
  if (spawnSync('systemd-analyze', ['--version']).status !== 0) return t.skip('systemd-analyze is not here');
  for (const name of ['skillet.service', 'skillet@.service']) {
    const verified = spawnSync('systemd-analyze', ['verify', path.join(folder, name)], { encoding: 'utf8' });
    // Where Node is depends on the machine.
    const said = verified.stderr.split('\n').filter((line) => line !== '' && !line.includes('/usr/bin/node'));
    assert.deepEqual(said, [], name);
  }
});

test('L7 L11 the unit for several bots is that for one, with user and places of each bot’s own', () => {
  const names =
    /^(Description|User|EnvironmentFile|Environment=SKILLET_CONFIG|StateDirectory|WorkingDirectory)=/;
  const settings = (name: string): readonly string[] =>
    read(name)
      .split('\n')
      .filter((line) => !line.startsWith('#'));
  const [one, several] = [settings('skillet.service'), settings('skillet@.service')];
  assert.deepEqual(
    several.map((line) => (names.test(line) ? line.replace('-%i', '').replace(' %i,', ',') : line)),
    one,
  );
  const own = several.filter((line) => line.includes('%i'));
  assert.deepEqual(
    own,
    several.filter((line) => names.test(line)),
  );
});

test('Q7 L11 supervisors wait longer than a stop takes, and docker stop as it comes does, too', () => {
  const parsed = parseConfig('', { env: {}, cwd: folder });
  assert.ok(parsed.ok);
  const stop = parsed.config.bot.shutdownSeconds + stopMarginMs / 1_000;
  assert.ok(stop < 10);
  assert.ok(stop < Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]));
  assert.ok(stop < Number(/^(\d+)s$/.exec(compose.services.bot.stop_grace_period)?.[1]));
});

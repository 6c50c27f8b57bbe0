import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { parseConfig } from '../src/config/parse-config.ts';
import { createServer } from '../src/lib/net/node-http.ts';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
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
  init?: boolean;
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
  for (const from of froms) assert.match(from, new RegExp(`^FROM node:${major}-`));
  const stages = froms.flatMap((from) => / AS (\w+)/.exec(from)?.[1] ?? []);
  for (const [, stage = ''] of dockerfile.matchAll(/--from=(\w+)/g)) assert.ok(stages.includes(stage), stage);
  // What is unpacked below /opt/skillet is the package.
  for (const [, name = ''] of dockerfile.matchAll(/\/opt\/skillet\/([\w./-]+)/g))
    assert.ok(manifest.files.includes(name) && existsSync(path.join(root, name)), name);
  const last = instructions.slice(instructions.lastIndexOf(froms.at(-1) ?? ''));
  assert.ok(last.includes('USER node'));
  assert.ok(last.indexOf('USER node') < last.findIndex((line) => line.startsWith('ENTRYPOINT')));
  for (const name of ['.git', 'node_modules', 'config.toml', '.env', 'data'])
    assert.ok(read('Dockerfile.dockerignore').split('\n').includes(name), `${name} stays out of the image`);
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
  const env = Object.fromEntries(Object.keys(bot.environment).map((name) => [name, 'a-value']));
  const url = /:-(.*)\}$/.exec(bot.environment['SKILLET_STORE_URL'] ?? '')?.[1];
  for (const SKILLET_STORE_URL of [url, 'postgres://skillet:secret@postgres/skillet']) {
    const parsed = parseConfig(read('skillet.toml'), {
      file: '/etc/skillet/config.toml',
      env: { ...env, SKILLET_STORE_URL },
    });
    assert.ok(parsed.ok, JSON.stringify(parsed));
    const { bot: places } = parsed.config;
    for (const place of [places.dataDir, places.workspace])
      assert.ok(
        bot.volumes.some((volume) => place.startsWith(`${volume.split(':')[1]}/`)),
        place,
      );
  }
  assert.deepEqual(postgres.profiles, ['postgres']);
});

test('L7 L11 the unit starts the packed program and is what systemd reads', (t) => {
  const [, file = ''] = /^ExecStart=\/usr\/bin\/node .*\/opt\/skillet\/(\S+) start$/m.exec(unit) ?? [];
  assert.ok(manifest.files.includes(file) && existsSync(path.join(root, file)));
  for (const line of ['Type=notify', 'NotifyAccess=all', 'NoNewPrivileges=yes', 'Delegate=yes'])
    assert.ok(unit.split('\n').includes(line), line);
  assert.match(unit, /^WatchdogSec=\d+$/m);
  const page = readFileSync(path.join(root, 'docs/how-to/deploy.md'), 'utf8');
  for (const [, name = ''] of `${unit}${page}`.matchAll(/\/opt\/skillet\/([\w./-]+\w)/g))
    assert.ok(
      manifest.files.some((packed) => name.startsWith(packed)) && existsSync(path.join(root, name)),
      name,
    );
  const state = `/var/lib/${/^StateDirectory=(.+)$/m.exec(unit)?.[1]}/`;
  const [written] = blocksOf(page).filter(({ language }) => language === 'toml');
  const parsed = parseConfig(written?.text ?? '', { file: '/etc/skillet/config.toml', env: {} });
  assert.ok(parsed.ok);
  for (const place of [parsed.config.bot.dataDir, parsed.config.bot.workspace])
    assert.ok(place.startsWith(state), `${place}: the unit lets it write below ${state} only`);
  if (spawnSync('systemd-analyze', ['--version']).status !== 0) return t.skip('systemd-analyze is not here');
  const verified = spawnSync('systemd-analyze', ['verify', path.join(folder, 'skillet.service')], {
    encoding: 'utf8',
  });
  // Where Node is depends on the machine.
  const said = verified.stderr.split('\n').filter((line) => line !== '' && !line.includes('/usr/bin/node'));
  assert.deepEqual(said, []);
});

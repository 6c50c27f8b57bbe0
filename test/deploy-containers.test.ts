import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { startMessagesServer } from './servers/messages/messages-server.ts';
import { startTelegramServer } from './servers/telegram/start-telegram-server.ts';
import { startTcpBalancer } from './support/tcp-balancer.ts';
import { until } from './support/until.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '..');
const folder = path.join(root, 'examples/deploy');
const [program = '', ...first] =
  [['docker', 'compose'], ['docker-compose']].find(
    ([name = '', ...args]) => spawnSync(name, [...args, 'version']).status === 0,
  ) ?? [];

function noContainers(): string | false {
  if (process.env['SKILLET_TEST_INSTALL'] !== '1')
    return 'it builds an image, which asks registries: set SKILLET_TEST_INSTALL=1';
  if (program === '') return 'neither docker compose nor docker-compose is here';
  return spawnSync('docker', ['info']).status === 0 ? false : 'no Docker daemon answers';
}

test(
  'Q2 Q9 L7 L11 three containers of compose.yaml share PostgreSQL: one dies, some go and come back, all are made again, and people get their answers',
  { skip: noContainers() },
  async (t) => {
    const home = await mkdtemp(path.join(tmpdir(), 'skillet-compose-'));
    await using telegram = await startTelegramServer();
    const messages = await startMessagesServer({
      script: ({ messages }) => `You said ${/message \w+/.exec(JSON.stringify(messages.at(-1)))?.[0]}.`,
    });
    t.after(() => messages.close());
    const gateway = ['network', 'inspect', 'bridge', '--format', '{{(index .IPAM.Config 0).Gateway}}'];
    const host = (await run('docker', gateway)).stdout.trim();
    const reach = async (url: string): Promise<string> => {
      const balancer = await startTcpBalancer([{ host: '127.0.0.1', port: Number(new URL(url).port) }], {
        host,
      });
      t.after(() => balancer.close());
      return `http://${host}:${balancer.port}`;
    };
    const toml = readFileSync(path.join(folder, 'skillet.toml'), 'utf8').replace(
      '[telegram]\n',
      `[models.default]\nmodel = "m"\nbase_url = "${await reach(messages.url)}"\napi_key = "$ANTHROPIC_API_KEY"\n\n[telegram]\napi_root = "${await reach(telegram.url)}"\n`,
    );
    await writeFile(path.join(home, 'skillet.toml'), toml, { mode: 0o644 });
    // As compose.yaml says, but with an image and a name of its own.
    const { services, volumes } = parse(readFileSync(path.join(folder, 'compose.yaml'), 'utf8')) as {
      services: {
        bot: { build: { context: string; args?: Record<string, string> }; image?: string };
        postgres: unknown;
      };
      volumes: unknown;
    };
    services.bot.build.context = root;
    delete services.bot.image;
    // The stand-in has no digest.
    services.bot.build.args = { NODE_IMAGE: 'node:24-bookworm-slim' };
    await writeFile(path.join(home, 'compose.yaml'), JSON.stringify({ services, volumes }));
    const tokens = `TELEGRAM_BOT_TOKEN=${telegram.token}\nANTHROPIC_API_KEY=key-0123456789\n`;
    await writeFile(path.join(home, '.env'), tokens, { mode: 0o600 });
    const env = {
      ...process.env,
      POSTGRES_PASSWORD: 'secret',
      SKILLET_STORE_URL: 'postgres://skillet:secret@postgres/skillet',
    };
    const compose = async (...args: readonly string[]): Promise<string> => {
      const project = ['--project-name', path.basename(home).toLowerCase(), '--profile', 'postgres'];
      const all = [...first, ...project, '--file', path.join(home, 'compose.yaml'), ...args];
      return (await run(program, all, { env, maxBuffer: 64 * 1024 * 1024 })).stdout.trim();
    };
    const scale = (bots: number): Promise<string> => compose('up', '--detach', '--scale', `bot=${bots}`);
    const inside = (number: number, ...command: readonly string[]): Promise<string> =>
      compose('exec', '-T', '--index', String(number), 'bot', ...command);
    const folders = async (...numbers: readonly number[]): Promise<readonly string[]> => {
      const found = numbers.map((number) => inside(number, 'cat', '/tmp/skillet-data'));
      return (await Promise.all(found)).map((at) => path.basename(at)).sort();
    };
    const ready = async (...numbers: readonly number[]): Promise<void> => {
      const look = "fetch('http://127.0.0.1:9464/readyz').then(({ ok }) => process.exit(ok ? 0 : 1))";
      for (const number of numbers)
        await until(() =>
          inside(number, 'node', '-e', look).then(
            () => true,
            () => false,
          ),
        );
    };
    const ann = telegram.person({ name: 'Ann' });
    const isAnswered = async (word: string): Promise<void> => {
      ann.says(`message ${word}`);
      await ann.dm.nextMessage(`You said message ${word}.`);
    };

    t.after(async () => {
      await compose('down', '--volumes', '--rmi', 'local');
      await rm(home, { recursive: true, force: true });
    });
    await compose('build');
    await scale(3);
    await ready(1, 2, 3);
    assert.deepEqual(await folders(1, 2, 3), ['data', 'data-2', 'data-3']);
    const [, claim = ''] = /(\/start claim_\S+)/.exec(await inside(2, 'skillet', 'pair', 'claim')) ?? [];
    ann.says(claim);
    await ann.dm.nextMessage(/own/i);
    await isAnswered('one');
    for (const number of [1, 2, 3])
      assert.match(
        await inside(number, 'sh', '-c', 'skillet doctor || true'),
        /owners: telegram:\d[^]*\b0 errors/,
      );

    const keys = 'cat /var/lib/skillet/data*/audit.key | sort';
    const before = await inside(1, 'sh', '-c', keys);
    const dead = await compose('ps', '--quiet', 'bot');
    await run('docker', ['kill', dead.split('\n')[0] ?? '']);
    await isAnswered('two');
    await scale(3);
    await scale(1);
    await isAnswered('three');
    await scale(3);
    await ready(1, 2, 3);
    assert.deepEqual(await folders(1, 2, 3), ['data', 'data-2', 'data-3']);
    await compose('restart', 'bot');
    await ready(1, 2, 3);
    await isAnswered('four');
    await compose('down');
    ann.says('message five');
    await scale(3);
    await ann.dm.nextMessage('You said message five.');
    await ready(1, 2, 3);
    assert.deepEqual(await folders(1, 2, 3), ['data', 'data-2', 'data-3']);
    assert.equal(await inside(1, 'sh', '-c', keys), before, 'the same audits continue');
    for (const number of [1, 2, 3]) await inside(number, 'skillet', 'audit', 'verify');
    await compose('stop', 'bot');
    for (const id of (await compose('ps', '--all', '--quiet', 'bot')).split('\n'))
      assert.equal(
        (await run('docker', ['inspect', id, '--format', '{{.State.ExitCode}}'])).stdout.trim(),
        '0',
      );
  },
);

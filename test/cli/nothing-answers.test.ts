import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { commands } from '../../src/cli/commands.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import { startSlackServer } from '../servers/slack/start-slack-server.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';
import { childEnv } from '../support/child-env.ts';
import { cliPath } from '../support/cli-path.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';
import { sandboxHere } from '../support/bubblewrap-here.ts';
import { thorough } from '../support/crash/thorough.ts';

type Situation = 'model' | 'telegram' | 'slack' | 'database' | 'mute database' | 'names';

/** What a command is called with. `lasts`: it runs until it is stopped. */
const calls: Readonly<Record<string, Readonly<{ args?: readonly string[]; lasts?: true }>>> = {
  start: { lasts: true },
  dashboard: { lasts: true },
  chat: { args: ['--once', 'hello'] },
  completion: { args: ['bash'] },
  backup: { args: ['all.tar'] },
  restore: { args: ['missing.tar', '--to', 'elsewhere'] },
  'move-store': { args: ['--to', 'new.db'] },
  'routine pause': { args: ['r1'] },
  'routine resume': { args: ['r1'] },
  'routine remove': { args: ['r1'] },
  'access explain': { args: ['telegram:42'] },
  'access test': { args: ['access.tests.toml'] },
  'accounts remove': { args: ['telegram:42', 'away'] },
  'feedback to-test': { args: ['f'] },
  'capability check': { args: ['notes'] },
  'capability revoke': { args: ['telegram:42', 'notes.book'] },
  'mcp agree': { args: ['away', '--yes'] },
  'pair approve': { args: ['K7QX2M9P'] },
  'pair deny': { args: ['K7QX2M9P'] },
  'pair revoke': { args: ['telegram:42'] },
  'inbox retry': { args: ['k'] },
  'inbox drop': { args: ['k'] },
  'outbox retry': { args: ['k'] },
  'policy revoke': { args: ['p'] },
  'memory list': { args: ['telegram:42'] },
  'memory remove': { args: ['m'] },
  forget: { args: ['telegram:42', '--yes'] },
  doctor: { args: ['--online'] },
  'skill show': { args: ['greet'] },
  'skill validate': { args: ['workspace'] },
  'skill new': { args: ['fresh'] },
  'skill add': { args: ['https://skills.invalid/a/b', '--yes'] },
  'skill remove': { args: ['greet'] },
  'skill test': { args: ['greet'] },
  'skill enable': { args: ['greet'] },
  'skill discard': { args: ['greet'] },
};

/** What asks a model or a platform. The rest asks the store alone, so it meets the others only in `npm run test:crash`. */
const asksOthers: ReadonlySet<string> = new Set([
  ...['start', 'dashboard', 'chat', 'init', 'doctor', 'status', 'rehearse', 'skill test', 'feedback to-test'],
  ...['pair approve', 'pair deny', 'mcp agree', 'accounts remove', 'capability revoke'],
]);

for (const situation of ['model', 'telegram', 'slack', 'database', 'mute database', 'names'] as const)
  test(`L1 every command that can meet it ends with a sentence and an exit code while this is away: ${situation}`, async (t) => {
    const isEach = thorough || situation === 'names' || situation.endsWith('database');
    const waiting = commands.map(({ name }) => name).filter((name) => isEach || asksOthers.has(name));
    const silent: string[] = [];
    // Each with a home of its own: two bots share none.
    const workers = Array.from({ length: situation === 'mute database' ? 6 : 3 }, async () => {
      const home = await openCliHome(t);
      const init = await furnish(t, home, situation);
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const args = name === 'init' ? init : (calls[name]?.args ?? []);
        const { code, signal, said } = await outcome(home.folder, name, args);
        // Node's own warning, or the stack of a fault that nobody foresaw.
        const isFault = /unsettled top-level await|^ {4}at .*:\d+/m.test(said);
        const isEnded =
          [0, 1, 2].includes(code ?? -1) || (calls[name]?.lasts === true && signal === 'SIGTERM');
        if (isFault || !isEnded || said.trim() === '')
          silent.push(`skillet ${[name, ...args].join(' ')}: ${code ?? signal}\n${said}`);
      }
    });
    await Promise.all(workers);
    assert.equal(silent.join('\n\n'), '');
  });

/** In a process of its own: another has more to wait for. */
async function outcome(folder: string, name: string, args: readonly string[]) {
  const child = spawn(process.execPath, [cliPath, ...name.split(' '), ...args], {
    cwd: folder,
    env: childEnv(folder),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const parts: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      parts.push(part);
      if (calls[name]?.lasts === true) child.kill('SIGTERM');
    });
  // A command that takes longer hangs.
  const late = setTimeout(() => child.kill('SIGKILL'), 120_000);
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  clearTimeout(late);
  return { code, signal, said: parts.join('') };
}

/** All is there but one, or no name resolves. Returns the options of `init`. */
async function furnish(t: TestContext, home: CliHome, away: Situation): Promise<readonly string[]> {
  const messages = await startMessagesServer({ script: () => 'ok' });
  const [telegram, slack] = await Promise.all([startTelegramServer(), startSlackServer()]);
  t.after(() => Promise.all([messages.close(), telegram.close(), slack.close()]));
  const closed = await closedPort();
  const at = (one: Situation, address: string): string =>
    away === one ? `http://127.0.0.1:${closed}/` : away === 'names' ? `http://${one}.invalid/` : address;
  const model = at('model', messages.url);
  const store =
    away === 'database' || away === 'mute database'
      ? `postgres://bot:secret-0@127.0.0.1:${away === 'database' ? closed : await mutePort(t)}/bot`
      : away === 'names'
        ? 'postgres://bot:secret-0@database.invalid/bot'
        : 'sqlite:data/skillet.db';
  await home.write(
    'config.toml',
    `[bot]\nowner = ["telegram:42"]
[telegram]\ntoken = "${telegram.token}"\napi_root = "${at('telegram', telegram.url)}"
[slack]\nbot_token = "${slack.tokens.bot}"\napp_token = "${slack.tokens.app}"\napi_url = "${at('slack', slack.url)}"
[models.default]\nmodel = "m"\nbase_url = "${model}"\napi_key = "key-0123456789"
[store]\nurl = "${store}"
[mcp.away]\nurl = "http://127.0.0.1:${closed}/"
${sandboxHere}`,
  );
  await home.write('access.tests.toml', '[[test]]\nwho = "telegram:42"\ntalk = true\nexpect = "allow"\n');
  const skill = path.join(home.folder, 'workspace/skills/greet');
  await mkdir(path.join(skill, 'tests'), { recursive: true });
  await writeFile(path.join(skill, 'SKILL.md'), '---\nname: greet\ndescription: Greets.\n---\nGreet.\n');
  await writeFile(
    path.join(skill, 'tests/one.toml'),
    '[[case]]\nmessage = "greet me"\nanswer.contains = "ok"\n',
  );
  await mkdir(path.join(home.folder, 'new'));
  return [
    ...[
      '--yes',
      '--config',
      'new/config.toml',
      '--model',
      'm',
      '--base-url',
      model,
      '--api-key',
      'key-0123456789',
    ],
    ...['--telegram-token', telegram.token, '--telegram-api-root', at('telegram', telegram.url)],
    ...['--slack-bot-token', slack.tokens.bot, '--slack-app-token', slack.tokens.app],
    ...['--slack-api-url', at('slack', slack.url), '--owner', 'telegram:42'],
  ];
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Whoever connects there is never answered. */
async function mutePort(t: TestContext): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer((socket) => open.add(socket.on('error', () => socket.destroy())));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

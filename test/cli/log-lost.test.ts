import assert from 'node:assert/strict';
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';
import { childEnv } from '../support/child-env.ts';
import { cliPath } from '../support/cli-path.ts';
import { openCliHome } from '../support/run-cli.ts';

/** Node runs this before the bot. */
const first = (code: string) => ({
  NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(code)}"`,
});
/** More than a pipe and the bot hold. */
const full = first("process.stderr.write('x'.repeat(4_000_000))");

/** `skillet start` with these streams; a person talks to it. */
async function startBot(t: TestContext, stdio: StdioOptions, env: Readonly<Record<string, string>> = {}) {
  const home = await openCliHome(t);
  const telegram = await startTelegramServer({ flood: false });
  t.after(() => telegram.close());
  await home.write(
    'config.toml',
    `[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\npaced = false\n[access]\ndm = "open"\n` +
      '[sandbox]\nmode = "virtual"\n[log]\nlevel = "debug"\nformat = "json"\n',
  );
  const bot = spawn(process.execPath, [cliPath, 'start'], {
    cwd: home.folder,
    env: { ...childEnv(home.folder), ...env },
    stdio,
  });
  t.after(() => bot.kill('SIGKILL'));
  await telegram.until('the menus', () => telegram.calls('setMyCommands').length > 1);
  const ann = telegram.person({ name: 'Ann' });
  return { bot, hears: async (text: string) => (ann.says(text), ann.dm.nextMessage()) };
}

async function end(bot: ChildProcess): Promise<unknown> {
  const ended = once(bot, 'exit');
  bot.kill('SIGTERM');
  return ended;
}

test('S15 a bot answers and ends well though the readers of its log and its output are gone', async (t) => {
  const { bot, hears } = await startBot(t, ['ignore', 'pipe', 'pipe']);
  bot.stderr?.destroy();
  bot.stdout?.destroy();
  for (let n = 0; n < 3; n++) await hears(`number ${n}`);
  assert.deepEqual(await end(bot), [0, null]);
});

test('S15 a bot answers and ends well though the disk of its log is full', async (t) => {
  const log = openSync('/dev/full', 'a');
  t.after(() => closeSync(log));
  const { bot, hears } = await startBot(t, ['ignore', log, log]);
  for (let n = 0; n < 3; n++) await hears(`number ${n}`);
  assert.deepEqual(await end(bot), [0, null]);
});

test('S15 a bot answers and ends well though nobody reads its log', async (t) => {
  const { bot, hears } = await startBot(t, ['ignore', 'pipe', 'pipe'], full);
  for (let n = 0; n < 3; n++) await hears(`number ${n}`);
  assert.deepEqual(await end(bot), [0, null]);
});

test('S15 a log that is read again says how many lines were lost', async (t) => {
  const { bot, hears } = await startBot(t, ['ignore', 'pipe', 'pipe'], full);
  await hears('number 1');
  assert.ok(bot.stderr !== null);
  const heard = { lines: '' };
  createInterface({ input: bot.stderr }).on('line', (line) => {
    if (line.includes('were lost')) heard.lines = line;
  });
  while (heard.lines === '') await hears('go on');
  const { lines } = JSON.parse(heard.lines) as { lines: number };
  assert.ok(lines > 3, `${lines} lines`);
  assert.deepEqual(await end(bot), [0, null]);
});

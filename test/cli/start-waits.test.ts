import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { childEnv } from '../support/child-env.ts';
import { cliPath } from '../support/cli-path.ts';
import { openCliHome } from '../support/run-cli.ts';

test('Q11 a start that waits for PostgreSQL says so, and ends with 0 when it is told to', async (t) => {
  const home = await openCliHome(t);
  await home.write(
    'config.toml',
    '[telegram]\ntoken = "7000000001:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"\napi_root = "http://127.0.0.1:1"\n' +
      '[store]\nurl = "postgres://somebody:hidden-word@127.0.0.1:1/nothing"\n',
  );
  const bot = spawn(process.execPath, [cliPath, 'start'], {
    cwd: home.folder,
    env: childEnv(home.folder),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => bot.kill('SIGKILL'));
  const ended = once(bot, 'exit');
  const lines: string[] = [];
  let waits = 0;
  for (const stream of [bot.stdout, bot.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      // The second one: it did not end while it only waited.
      if (line.includes('is away') && ++waits === 2) bot.kill('SIGTERM');
    });
  assert.deepEqual(await ended, [0, null]);
  const said = lines.join('\n');
  assert.match(said, /"level":40.*the database of \[store\] url is away; trying again/);
  assert.match(said, /stopping: the start was cancelled/);
  assert.doesNotMatch(said, /hidden-word/);
});

test('Q11 S15 a start that waits for Telegram is watched from its first turn on, and SIGHUP ends it as well as SIGTERM', async (t) => {
  const home = await openCliHome(t);
  await home.write(
    'config.toml',
    '[telegram]\ntoken = "7000000001:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"\napi_root = "http://127.0.0.1:1"\n[sandbox]\nmode = "virtual"\n',
  );
  const bot = spawn(process.execPath, [cliPath, 'start'], {
    cwd: home.folder,
    env: childEnv(home.folder),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => bot.kill('SIGKILL'));
  const ended = once(bot, 'exit');
  let children = '';
  createInterface({ input: bot.stderr }).on('line', (line) => {
    if (!line.includes('Telegram could not be reached; trying again') || children !== '') return;
    if (process.platform === 'linux') children = commandsUnder(bot.pid);
    bot.kill('SIGHUP');
  });
  assert.deepEqual(await ended, [0, null]);
  if (process.platform === 'linux') assert.match(children, /skillet-watchdog/);
});

function commandsUnder(pid = 0): string {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return pids.map((each) => readFileSync(`/proc/${each}/cmdline`, 'utf8')).join('\n');
}

test('Q11 L2 a start that waits for Telegram says why in one line, and ends without a stack when it is told to', async (t) => {
  const home = await openCliHome(t);
  await home.write(
    'config.toml',
    '[telegram]\ntoken = "7000000001:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"\napi_root = "http://127.0.0.1:1"\n[sandbox]\nmode = "virtual"\n',
  );
  const bot = spawn(process.execPath, [cliPath, 'start'], {
    cwd: home.folder,
    env: childEnv(home.folder),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => bot.kill('SIGKILL'));
  const ended = once(bot, 'exit');
  const lines: string[] = [];
  for (const stream of [bot.stdout, bot.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      if (line.includes('Telegram could not be reached; trying again')) bot.kill('SIGTERM');
    });
  assert.deepEqual(await ended, [0, null]);
  const said = lines.join('\n');
  assert.match(said, /"why":"[^"]*ECONNREFUSED/);
  assert.match(said, /"msg":"the start was cancelled"/);
  assert.doesNotMatch(said, /"stack"/);
});

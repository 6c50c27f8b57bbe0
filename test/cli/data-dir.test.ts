import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCliHome } from '../support/run-cli.ts';
import { startRunningBot } from '../support/running-bot.ts';

test('Q9 a data directory has one bot: a second one is told by whom, its store being another, and takes nothing from the first', async (t) => {
  const home = await openCliHome(t);
  const bot = await startRunningBot(t, home);
  const other = await home.write(
    'other.toml',
    '[store]\nurl = "sqlite:./other.db"\n[telegram]\ntoken = "7000000001:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"\napi_root = "http://127.0.0.1:1"\n',
  );
  const second = await home.runAlone(['start', '--config', other]);
  assert.equal(second.code, 1);
  assert.match(
    second.stderr,
    new RegExp(
      `data is in use by process ${bot.process.pid}\\. Stop that one first, .*\\[bot\\] data_dir\\.\\n$`,
    ),
  );
  const list = await home.run(['pair', 'list']);
  assert.deepEqual([list.code, list.stderr], [0, '']);
  assert.equal(await bot.end(), 0);
});

test('Q9 L1 where the path of the socket is too long, commands name the bot that runs, and work when none does', async (t) => {
  const home = await openCliHome(t);
  const bot = await startRunningBot(t, home, `[bot]\ndata_dir = "./${'d'.repeat(120)}"\n`);
  const meanwhile = await home.run(['pair', 'list']);
  assert.equal(meanwhile.code, 1);
  assert.match(meanwhile.stderr, new RegExp(`^.* is in use by process ${bot.process.pid}\\. .*\\n$`));
  assert.equal(await bot.end(), 0);
  const list = await home.run(['pair', 'list']);
  assert.deepEqual([list.code, list.stderr], [0, '']);
});

test('G2 a data directory that cannot be made ends with 1 and the fix, not with a stack', async (t) => {
  const home = await openCliHome(t);
  await home.write('a-file', '');
  await home.write('config.toml', '[bot]\ndata_dir = "./a-file/data"\n');
  const { code, stderr } = await home.run(['chat', '--once', 'hello']);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^.*a-file\/data can't be used as the data directory: .*a-file is a file, and a folder must be there\. .*\[bot\] data_dir\.\n$/,
  );
});

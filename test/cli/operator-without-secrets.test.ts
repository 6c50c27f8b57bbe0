import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { openCliHome } from '../support/run-cli.ts';
import { openRunningBot } from '../support/running-bot.ts';

const secrets =
  '[telegram]\ntoken = "$BOT_TOKEN"\nmode = "webhook"\nwebhook_url = "https://bot.example"\nwebhook_secret = "$HOOK"\n' +
  '[models.default]\nmodel = "m"\napi_key = "$MODEL_KEY"\n[skills.dice]\nDICE_KEY = "$DICE_KEY"\n';

test('L1 Q9 commands work without the secrets of the running bot; start and config check name what is missing', async (t) => {
  const home = await openCliHome(t);
  await openRunningBot(t, home);
  // As an operator's shell has it: another environment than the bot's.
  const shell = await home.write('shell.toml', `${secrets}[store]\nurl = "$DATABASE_URL"\n`);
  const commands = [
    ['inbox', 'list'],
    ['outbox', 'list'],
    ['pair', 'list'],
    ['policy', 'list'],
    ['stats'],
    ['audit', 'verify'],
    ['mcp', 'list'],
    ['capability', 'accounts'],
    ['skill', 'list'],
    ['skill', 'show', 'dice'],
    ['skill', 'sources'],
    ['backup', 'copy.db'],
    ['chat', '--once', '/whoami'],
  ];
  for (const command of commands) {
    const { code, stderr } = await home.run([...command, '--config', shell]);
    assert.deepEqual([command, code, stderr.replace('100 %\n', '')], [command, 0, '']);
  }
  const forget = await home.run(['forget', 'telegram:42', '--yes', '--config', shell]);
  assert.deepEqual([forget.code, forget.stdout], [1, 'Nothing was stored of telegram:42.\n']);
  for (const strict of [['start'], ['config', 'check']]) {
    const { code, stdout, stderr } = await home.run([...strict, '--config', shell]);
    assert.equal(code, 1);
    assert.match(
      stdout + stderr,
      /no BOT_TOKEN[^]*no HOOK[^]*no MODEL_KEY[^]*no DICE_KEY[^]*no DATABASE_URL/,
    );
  }
});

test('L1 while no bot runs, commands name what the store needs, and only that', async (t) => {
  const home = await openCliHome(t);
  await home.write('config.toml', `${secrets}[store]\nurl = "$DATABASE_URL"\n`);
  for (const command of [['inbox', 'list'], ['skill', 'list'], ['stats']]) {
    const { code, stderr } = await home.run(command);
    assert.deepEqual([command, code], [command, 1]);
    assert.match(stderr, /^\S*config\.toml:12:1: store\.url .* no DATABASE_URL.*\n$/);
  }
  assert.equal(existsSync(path.join(home.folder, 'data')), false);
  await home.write('config.toml', secrets);
  const list = await home.run(['inbox', 'list']);
  assert.deepEqual(
    [list.code, list.stdout, list.stderr],
    [0, 'No dead letters. --waiting lists messages that are not answered yet.\n', ''],
  );
  const chat = await home.run(['chat', '--once', 'hello']);
  assert.equal(chat.code, 1);
  assert.match(chat.stderr, /no BOT_TOKEN/);
});

test('S2 secrets that the operator has are redacted where others are missing', async (t) => {
  const home = await openCliHome(t);
  await home.write(
    'config.toml',
    `${secrets}[slack]\nbot_token = "xoxb-literal-canary"\nsigning_secret = "x"\nmode = "http"\n`,
  );
  const env = { MODEL_KEY: 'sk-ant-canary-0123456789' };
  await mkdir(path.join(home.folder, 'workspace/skills/leak'), { recursive: true });
  await home.write(
    'workspace/skills/leak/SKILL.md',
    '---\nname: leak\ndescription: Has sk-ant-canary-0123456789 and xoxb-literal-canary.\n---\nBody.\n',
  );
  const shown = await home.runAlone(['skill', 'show', 'leak'], { env });
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, /Has \[redacted MODEL_KEY\] and \[redacted slack\.bot_token\]\./);
  const refused = await home.runAlone(['pair', 'approve', 'sk-ant-canary-0123456789'], { env });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /\[redacted MODEL_KEY\] is no valid pairing code/);
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { childEnv } from '../support/child-env.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import { cliPath } from '../support/cli-path.ts';
import { openCliHome } from '../support/run-cli.ts';
import { openStore } from '../../src/store/open-store.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';

test('L1 wrong usage is 2, --version and --help are 0', async (t) => {
  const { runAlone: run } = await openCliHome(t);
  assert.equal((await run(['nonsense'])).code, 2);
  assert.equal((await run(['skill', 'show'])).code, 2);
  const version = await run(['--version']);
  const manifest = await readFile(path.join(import.meta.dirname, '../../package.json'), 'utf8');
  const { version: packed } = JSON.parse(manifest) as { version: string };
  assert.deepEqual([version.code, version.stdout], [0, `${packed}\n`]);
  const help = await run(['--help']);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /Examples:[^]*Exit codes/);
});

test('L1 G2 G5 C1 config check says all problems at once, config show masks secrets', async (t) => {
  const { run, runAlone, write } = await openCliHome(t);
  assert.equal((await run(['config', 'check'])).code, 0);
  await write(
    'config.toml',
    '[models.default]\napi_key = "sk-canary-0123456789"\n[telegram]\ntoken = "$TOKEN"\n',
  );
  const shown = await run(['config', 'show'], { env: { TOKEN: '123:telegram-canary' } });
  assert.equal(shown.code, 0);
  assert.doesNotMatch(shown.stdout, /canary/);
  assert.match(shown.stdout, /\$TOKEN/);
  await write('slip.toml', '[skills.dise]\nsensitive = true\n');
  const slip = await run(['config', 'check', '--config', 'slip.toml']);
  assert.equal(slip.code, 0, 'a skill of that name may come yet');
  assert.match(slip.stdout, /warning SKILL_UNKNOWN: \[skills\.dise\] .*did you mean \[skills\.dice\]\?/);
  const check = await runAlone(['config', 'check', '--json']);
  assert.equal(check.code, 1);
  const { ok, problems } = JSON.parse(check.stdout) as { ok: boolean; problems: { line: number }[] };
  assert.deepEqual([ok, problems.length, problems[0]?.line], [false, 1, 4]);
  await write('config.toml', '[capabilities.providers.mail]\n');
  const unused = await run(['config', 'check']);
  assert.deepEqual([unused.code, /PROVIDER_UNUSED: .*has no command/.test(unused.stdout)], [1, true]);
});

test('L1 F5 skill new, list, show and validate work on a workspace, bad files included', async (t) => {
  const { run, runAlone, write, folder } = await openCliHome(t);
  assert.equal(
    (await run(['skill', 'new', 'weather', '--description', 'Says the weather. Use when asked.'])).code,
    0,
  );
  const file = path.join(folder, 'workspace/skills/weather/SKILL.md');
  assert.match(await readFile(file, 'utf8'), /name: weather/);
  assert.equal((await run(['skill', 'validate', '--strict', file])).code, 0);
  const again = await run(['skill', 'new', 'weather']);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /exists already/);
  assert.equal((await run(['skill', 'new', 'Bad Name'])).code, 1);
  await write(
    'workspace/skills/broken.md',
    '---\nname: broken\ndescription: x\nsensitive: perhaps\n---\nbody\n',
  );
  const list = await runAlone(['skill', 'list', '--json']);
  assert.equal(list.code, 1);
  const { skills, diagnostics } = JSON.parse(list.stdout) as {
    skills: { name: string; chatTypes: string[] }[];
    diagnostics: { field?: string }[];
  };
  assert.deepEqual(skills.find(({ name }) => name === 'weather')?.chatTypes, ['private', 'group', 'channel']);
  assert.ok(diagnostics.some(({ field }) => field === 'sensitive'));
  assert.match((await run(['skill', 'show', 'weather'])).stdout, /works in: private, group, channel/);
  assert.match((await run(['skill', 'show', 'wether'])).stderr, /Near: weather/);
  const unloaded = await run(['skill', 'show', 'broken']);
  assert.equal(unloaded.code, 1);
  assert.match(unloaded.stderr, /not loaded:\nerror FIELD_INVALID .*broken\.md:4: sensitive: /);
  assert.match((await run(['skill', 'show', 'dice'])).stdout, /What was asked for: \$ARGUMENTS/);
  assert.equal((await run(['skill', 'validate', path.join(folder, 'workspace/skills')])).code, 1);
});

test('U3 L1 skill list and show say where the env of a skill reaches commands that the model writes', async (t) => {
  const { run, write, folder } = await openCliHome(t);
  const text = (name: string, tools: string) =>
    `---\nname: ${name}\ndescription: x\nenv: [X_KEY]\nallowed_tools: [${tools}]\n---\nb\n`;
  await mkdir(path.join(folder, 'workspace/skills'), { recursive: true });
  await write('workspace/skills/own.md', text('own', 'Bash'));
  await write('workspace/skills/kept.md', text('kept', 'Bash'));
  await write('workspace/skills/given.md', text('given', 'web_fetch'));
  await write(
    'config.toml',
    '[skills.kept]\nenv_in_bash = false\n[skills.given]\nnetwork = ["api.example.com"]\n',
  );
  const { skills } = JSON.parse((await run(['skill', 'list', '--json'])).stdout) as {
    skills: { name: string; envInBash: boolean }[];
  };
  const known = skills.filter(({ envInBash }) => envInBash).map(({ name }) => name);
  assert.deepEqual(known, ['given', 'own']);
  const listed = (await run(['skill', 'list'])).stdout;
  assert.match(listed, /kept .*\n +only its scripts get its env: \[skills\.kept\] env_in_bash = false/);
  assert.equal(listed.match(/only its scripts/g)?.length, 1);
  assert.match(
    (await run(['skill', 'show', 'own'])).stdout,
    /^env reaches: its scripts and commands \(bash\); they reach no host, and their output is redacted$/m,
  );
  assert.match(
    (await run(['skill', 'show', 'given'])).stdout,
    /^env reaches: its scripts and commands \(bash\); they reach only api\.example\.com, and/m,
  );
  assert.match((await run(['skill', 'show', 'kept'])).stdout, /^env reaches: its scripts; /m);
  assert.match(
    (await run(['sandbox', 'status'])).stdout,
    /^environment: keys of \[skills\.NAME\] reach the scripts and commands of that skill alone \(scripts only: kept\); those reach only its hosts, and their output is redacted$/m,
  );
});

test('D3 A8 R6 U3 F6 skill list and show say what is missing, who may use a skill where, and all that its file says', async (t) => {
  const { run, write, folder } = await openCliHome(t);
  await mkdir(path.join(folder, 'workspace/skills/table'), { recursive: true });
  await write(
    'workspace/skills/table/SKILL.md',
    `---
name: table
description: Makes tables.
version: 1.2
tags: [sheet, office]
author: Ann
rationale: Tables are read.
model: haiku
max_iterations: 4
user_invocable: false
zone: north
env: [TABLE_KEY]
metadata:
  openclaw:
    requires:
      bins: [skillet-tabler]
      pip: skillet-sheets
    install:
      - kind: brew
        formula: ann/tap/tabler
        bins: [skillet-tabler]
      - kind: brew
        formula: "x; rm -rf /"
        bins: [other]
---
Do it.
`,
  );
  await write(
    'workspace/skills/table/requirements.txt',
    '# what it takes\nskillet_grids>=2 ; python_version > "3"\n',
  );
  await write(
    'config.toml',
    '[skills.table]\nallow_users = ["telegram:1"]\nallow_chat_ids = ["telegram:-100"]\nTABLE_URL = "https://t.example"\n[sandbox]\nmode = "off"\n[policy]\ncritical = "confirm"\n',
  );
  const list = (await run(['skill', 'list'])).stdout;
  assert.match(list, /^table .* needs TABLE_KEY, skillet-tabler, skillet-sheets, … +Makes tables\.$/m);
  assert.match(list, /only in these chats: telegram:-100\n +only for these people: telegram:1\n/);
  assert.match(list, /not set up: write TABLE_KEY below \[skills\.table\]/);
  const way =
    'no Debian package is known to bring skillet-tabler: install it as the skill says: brew install ann/tap/tabler';
  assert.ok(list.includes(way), list);
  assert.doesNotMatch(list, /apt-get install skillet|rm -rf/);

  const shown = (await run(['skill', 'show', 'table'])).stdout;
  for (const line of [
    ...['version: 1.2', 'tags: sheet, office', 'authors: Ann', 'rationale: Tables are read.', 'model: haiku'],
    ...['limits: 4 model calls, 300 s', 'started: not by people', 'zone (no meaning here): north'],
    ...['env: TABLE_KEY, TABLE_URL (given by the operator)', 'only for these people: telegram:1'],
  ])
    assert.ok(shown.split('\n').includes(line), `${line} in ${shown}`);
  const { skills } = JSON.parse((await run(['skill', 'list', '--json'])).stdout) as {
    skills: { name: string }[];
  };
  const { missing, missingEnv, missingPython, users, chats, givenEnv } = skills.find(
    ({ name }) => name === 'table',
  ) as unknown as Record<string, unknown>;
  assert.deepEqual(
    { missing, missingEnv, missingPython, users, chats, givenEnv },
    {
      missing: ['skillet-tabler'],
      missingEnv: ['TABLE_KEY'],
      missingPython: ['skillet-sheets', 'skillet_grids'],
      users: ['telegram:1'],
      chats: ['telegram:-100'],
      givenEnv: ['TABLE_URL'],
    },
  );
  const status = await run(['sandbox', 'status']);
  assert.match(
    status.stdout,
    /skill table: lacks skillet-tabler, skillet-sheets, skillet_grids; it is off until/,
  );
  assert.match(status.stdout, /skill table: needs TABLE_KEY in config\.toml/);
});

test('L1 A10 Q9 pair and inbox reach a running bot through its socket, and its store when none runs', async (t) => {
  const { run, runAlone, write, folder } = await openCliHome(t);
  const telegram = await startTelegramServer();
  t.after(() => telegram.close());
  await write(
    'config.toml',
    `[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\npaced = false\n`,
  );
  const bot = spawn(process.execPath, [cliPath, 'start'], {
    cwd: folder,
    env: childEnv(folder),
  });
  t.after(() => bot.kill('SIGKILL'));
  let printed = '';
  let logged = '';
  bot.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  bot.stderr.on('data', (chunk: Buffer) => (logged += chunk.toString()));
  await telegram.until('the menus', () => telegram.calls('setMyCommands').length > 1);
  const eve = telegram.person({ name: 'Eve' });
  eve.says('hello');
  const code = /code is (\w{8})/.exec((await eve.dm.nextMessage()).text)?.[1] ?? '';
  assert.match((await run(['pair', 'list'])).stdout, new RegExp(`pending  ${code}  telegram:${eve.id}`));
  const second = await runAlone(['start']);
  assert.equal(second.code, 1);
  assert.match(second.stderr, new RegExp(String(bot.pid)));
  assert.equal((await runAlone(['pair', 'approve', code])).code, 0);
  assert.match((await eve.dm.nextMessage()).text, /approved/);
  const wrong = await run(['pair', 'approve', 'NOTACODE']);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /no valid pairing code/);
  assert.doesNotMatch(printed + logged, /claim_[0-9a-f]/, 'a log has other readers than a terminal');
  assert.match(logged, /skillet pair claim/);
  const { stdout: claim } = await run(['pair', 'claim']);
  eve.says(/\/start claim_[0-9a-f]{32}/.exec(claim)?.[0] ?? '');
  assert.match((await eve.dm.nextMessage()).text, /You are the owner now/);
  assert.match((await run(['pair', 'claim'])).stderr, /has an owner/);
  bot.kill('SIGTERM');
  assert.deepEqual(await once(bot, 'exit'), [0, null]);
  assert.match((await run(['pair', 'list'])).stdout, new RegExp(`paired   telegram:${eve.id}`));
  assert.equal((await run(['pair', 'revoke', `telegram:${eve.id}`])).code, 0);
  assert.equal((await run(['pair', 'list'])).stdout, `owner    telegram:${eve.id}\n`);
  assert.match((await run(['inbox', 'list'])).stdout, /No dead letters/);
  assert.equal((await run(['inbox', 'drop', 'telegram:1:1'])).code, 1);
});

test('L1 Q6 answers that were given up are listed with the reason and can be sent after all', async (t) => {
  const { run, folder } = await openCliHome(t);
  assert.match((await run(['outbox', 'list'])).stdout, /No failed deliveries/);
  const store = await openStore(`sqlite:${path.join(folder, 'data/skillet.db')}`);
  const conversation = { channel: 'telegram', chat: '42' };
  await store.commit({ outbox: [{ key: 'k#0', conversation, part: { markdown: 'hi' } }] });
  await store.outbox.dead('k#0', 'Forbidden: bot was blocked by the user');
  await store.close();
  assert.match(
    (await run(['outbox', 'list'])).stdout,
    /k#0 {2}to telegram:42 .* {2}Forbidden: bot was blocked/,
  );
  const listed = JSON.parse((await run(['outbox', 'list', '--json'])).stdout) as { key: string }[];
  assert.deepEqual(
    listed.map(({ key }) => key),
    ['k#0'],
  );
  assert.equal((await run(['outbox', 'retry', 'k#0'])).code, 0);
  const again = await run(['outbox', 'retry', 'k#0']);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /no failed delivery k#0/);
});

test('Q7 S4 a bot that cannot connect says why and what to do, and leaves nothing open to others', async (t) => {
  const { runAlone, write } = await openCliHome(t);
  const telegram = await startTelegramServer();
  t.after(() => telegram.close());
  await write('config.toml', `[telegram]\ntoken = "111:wrong-token-canary"\napi_root = "${telegram.url}"\n`);
  const { code, stderr } = await runAlone(['start']);
  assert.equal(code, 1);
  assert.match(stderr, /token/);
  assert.doesNotMatch(stderr, /canary/);
});

test('Q7 SIGTERM ends a bot whose platform is away', async (t) => {
  const { write, folder } = await openCliHome(t);
  await write('config.toml', '[telegram]\ntoken = "111:a-token"\napi_root = "http://127.0.0.1:9"\n');
  const bot = spawn(process.execPath, [cliPath, 'start'], {
    cwd: folder,
    env: childEnv(folder),
  });
  t.after(() => bot.kill('SIGKILL'));
  await once(bot.stderr, 'data');
  bot.kill('SIGTERM');
  assert.deepEqual(await once(bot, 'exit'), [0, null]);
});

test('Q7 SIGTERM while a model is being tried again, with an idle client at the control socket, ends with 0 and keeps the message', async (t) => {
  const { run, write, folder } = await openCliHome(t);
  const telegram = await startTelegramServer();
  t.after(() => telegram.close());
  const asked = Promise.withResolvers<void>();
  const messages = await startMessagesServer({
    script: () => {
      asked.resolve();
      return { status: 529, headers: { 'retry-after': '30' } };
    },
  });
  t.after(() => messages.close());
  await write(
    'config.toml',
    `[bot]\nshutdown_seconds = 1\n[telegram]\ntoken = "${telegram.token}"\napi_root = "${telegram.url}"\n[access]\ndm = "open"\n[models.default]\nmodel = "claude-sonnet-5-5"\nbase_url = "${messages.url}"\napi_key = "test-key-0123456789"\n`,
  );
  const bot = spawn(process.execPath, [cliPath, 'start'], {
    cwd: folder,
    env: childEnv(folder),
    stdio: 'ignore',
  });
  t.after(() => bot.kill('SIGKILL'));
  await telegram.until('the menus', () => telegram.calls('setMyCommands').length > 1);
  const idle = connect(path.join(folder, 'data/control.sock'));
  t.after(() => idle.destroy());
  await once(idle, 'connect');
  telegram.person({ name: 'Ann' }).says('hello');
  await asked.promise;
  bot.kill('SIGTERM');
  assert.deepEqual(await once(bot, 'exit'), [0, null]);
  assert.match((await run(['inbox', 'list', '--waiting'])).stdout, /telegram:\d+:\d+ {2}0 tries/);
});

import { copyPatched } from '../support/rolling/copy-version.ts';
import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { parseConfig } from '../../src/config/parse-config.ts';
import { checkFiles } from '../../src/operator/doctor/check-files.ts';
import {
  checkClock,
  checkDisk,
  checkNode,
  checkOpenFiles,
  type Machine,
} from '../../src/operator/doctor/check-machine.ts';
import { checkStore } from '../../src/operator/doctor/check-store.ts';
import { checkServers } from '../../src/operator/doctor/check-servers.ts';
import type { Finding } from '../../src/operator/doctor/finding.ts';
import { featureReasons } from '../../src/features/list.ts';
import { allReasons } from '../../src/operator/doctor/reasons.ts';
import { lockOwner } from '../../src/store/sqlite/lock-owner.ts';
import { openStore } from '../../src/store/open-store.ts';
import { startChatServer } from '../servers/chat/chat-server.ts';
import { startMessagesServer, type Script } from '../servers/messages/messages-server.ts';
import { startSlackServer } from '../servers/slack/start-slack-server.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';
import { sandboxHere } from '../support/bubblewrap-here.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';
import { openRunningBot } from '../support/running-bot.ts';

type Report = Readonly<{
  ok: boolean;
  checks: readonly Readonly<{ name: string; said: string; findings: readonly Finding[] }>[];
  fixed: readonly Finding[];
}>;

/** Ids that these tests provoked. */
const provoked = new Set<string>();
const telegram = '[telegram]\ntoken = "123456789:AAExampleExampleExampleExampleExample"\n';
const owned = '[bot]\nowner = ["telegram:42"]\n';

/** `sandbox`: what ends the config. */
async function examine(
  home: CliHome,
  toml: string | undefined,
  {
    args = [],
    env = {},
    sandbox = sandboxHere,
    cli,
  }: Readonly<{
    args?: readonly string[];
    env?: Readonly<Record<string, string>>;
    sandbox?: string;
    /** Another version of the program. */
    cli?: string;
  }> = {},
): Promise<Report & Readonly<{ found: readonly Finding[]; of(id: string): Finding }>> {
  if (toml !== undefined) await home.write('config.toml', `${toml}${sandbox}`);
  const words = ['doctor', '--json', ...args];
  const ran = await (cli === undefined ? home.run(words, { env }) : home.runAlone(words, { env, cli }));
  assert.equal(ran.stderr, '');
  const report = JSON.parse(ran.stdout) as Report;
  const found = report.checks.flatMap(({ findings }) => findings);
  assert.equal(report.ok, ran.code === 0);
  assert.equal(
    report.ok,
    found.every(({ level }) => level === 'note'),
  );
  const of = (id: string): Finding => {
    const one = found.find((finding) => finding.id === id);
    assert.ok(one !== undefined, `${id} is not among ${found.map(({ id: other }) => other).join(', ')}`);
    provoked.add(id);
    return one;
  };
  return { ...report, found, of };
}

test('L2 a machine in order has nothing but notes, and each check says what it saw', async (t) => {
  const home = await openCliHome(t);
  const fresh = await examine(home, undefined);
  assert.equal(fresh.ok, sandboxHere === '');
  for (const id of ['CONFIG_MISSING', 'NO_CHANNEL', 'NO_MODEL', 'WEB_SEARCH_MISSING'])
    assert.equal(fresh.of(id).level, 'note');
  const good = await examine(home, `${owned}${telegram}`);
  assert.deepEqual(
    good.checks.map(({ name }) => name),
    ['node', 'clock', 'config', 'start', 'disk', 'store', 'channels', 'access', 'sandbox', 'skills'],
  );
  assert.equal(good.ok, true);
  const { stdout, code } = await home.run(['doctor']);
  assert.equal(code, 0);
  assert.match(stdout, /^✓ node +24\..*$/m);
  assert.match(stdout, /^✓ channels +telegram; owners: telegram:42$/m);
  assert.match(stdout, /\n· NO_MODEL\n {2}no language model is connected\n {2}Why: .*\n {2}Fix: .*\n/);
  assert.match(stdout, /\n0 errors, 0 warnings, 2 notes\.\n$/);
});

test('L2 S2 a data directory that its group or others may look into or walk through is told', async (t) => {
  const { folder } = await openCliHome(t);
  const dataDir = path.join(folder, 'data');
  await mkdir(dataDir);
  const parsed = parseConfig('', { env: {}, cwd: folder });
  assert.ok(parsed.ok);
  for (const mode of [0o750, 0o710, 0o740, 0o704, 0o701, 0o700]) {
    await chmod(dataDir, mode);
    const { findings } = await checkFiles({ ...parsed.config, bot: { ...parsed.config.bot, dataDir } }, []);
    const told = findings.filter(({ id }) => id === 'DATA_READABLE');
    assert.equal(told.length, mode === 0o700 ? 0 : 1, mode.toString(8));
  }
});

test('L2 what is wrong in the config has its place, and why and fix apart', async (t) => {
  const home = await openCliHome(t);
  const { checks, of } = await examine(home, '[telegram]\nmode = "pull"\ntokn = "x"\n');
  assert.deepEqual(
    checks.map(({ name }) => name),
    ['node', 'clock', 'config'],
  );
  const first = of('CONFIG_INVALID');
  assert.equal(first.line, 2);
  assert.match(first.what, /^telegram\.mode cannot be "pull"$/);
  assert.match(first.fix, /^Write "polling" or "webhook"/);
  const missing = await examine(home, '[telegram]\ntoken = "$TELEGRAM_BOT_TOKEN"\n');
  assert.match(
    missing.of('CONFIG_INVALID').what,
    /^telegram\.token .*but the environment has no TELEGRAM_BOT_TOKEN$/,
  );
  const zone = (await examine(home, '[bot]\ntimezone = "Mars/Base"\n')).of('CONFIG_INVALID');
  assert.equal(zone.what, 'bot.timezone cannot be "Mars/Base"');
  const half = (await examine(home, '[bot]\n[slack]\nbot_token = "xoxb-1"\n')).of('CONFIG_INVALID');
  assert.match(half.what, /app_token is missing: bot_token is set, and this mode needs app_token too$/);
  assert.deepEqual([half.fix, half.line], ['Write "$SLACK_APP_TOKEN".', 2]);
});

test('L2 S2 a config without a secret is not said to hold one', async (t) => {
  const home = await openCliHome(t);
  const file = await home.write(
    'config.toml',
    '[models.default]\nmodel = "x"\nbase_url = "http://127.0.0.1:1"\n',
  );
  await chmod(file, 0o644);
  assert.doesNotMatch((await home.run(['doctor'])).stdout, /SECRETS_READABLE/);
});

test('L2 tokens, models, programs, ports and folders are looked at as start does', async (t) => {
  const home = await openCliHome(t);
  const port = createServer().listen(0, '127.0.0.1');
  t.after(() => port.close());
  await new Promise((resolve) => port.once('listening', resolve));
  await home.write('a-file', '');
  const { of } = await examine(
    home,
    `[bot]\nowner = ["slack:U1"]\nworkspace = "./a-file"\n[slack]\nbot_token = "xapp-1"\napp_token = "xoxb-1"\n` +
      `[models.default]\nmodel = "claude-sonnet-5-5"\n[mcp.notes]\ncommand = "no-such-program"\n` +
      `[server]\nlisten = "127.0.0.1:${(port.address() as AddressInfo).port}"\n` +
      `[capabilities.providers.NOTES]\ncommand = ["x"]\n` +
      `[[routines]]\nname = "a"\nwhen = "soon"\ntask = "x"\nas = "slack:U1"\nconversation = "slack:C1"\n`,
  );
  for (const id of [
    'TOKENS_SWAPPED',
    'MODEL_WITHOUT_KEY',
    'PROGRAM_MISSING',
    'WORKSPACE_UNUSABLE',
    'PORT_UNUSABLE',
    'ROUTINE_UNUSABLE',
    'PROVIDER_UNUSED',
  ])
    assert.ok(of(id).fix.length > 10);
  const form = await examine(home, `${owned}[telegram]\ntoken = "canary"\n`);
  assert.equal(form.of('TOKEN_FORM').line, 4);
  assert.ok(!JSON.stringify(form).includes('canary'));
  const refused = await examine(home, '[bot]\ndata_dir = "./a-file"\n');
  assert.match(refused.of('START_REFUSED').what, /a-file is a file/);
});

test('L2 G2 a folder for temporary files that is not there is named, by the doctor and at the start', async (t) => {
  const home = await openCliHome(t);
  const env = { TMPDIR: '/nowhere-at-all' };
  for (const sandbox of [sandboxHere, '[sandbox]\nmode = "off"\n'])
    assert.match(
      (await examine(home, `${owned}${telegram}`, { env, sandbox })).of('TEMPORARY_UNUSABLE').what,
      /\/nowhere-at-all is not a writable folder.*set TMPDIR/,
    );
  const started = await home.run(['start'], { env });
  assert.match(started.stderr, /^error TEMPORARY_UNUSABLE: \/nowhere-at-all/);
  assert.equal(started.code, 1);
});

test('L2 S4 --fix closes files to others and says so; what is not ours to decide it leaves', async (t) => {
  const home = await openCliHome(t);
  const file = await home.write('config.toml', `${owned}${telegram}${sandboxHere}`);
  const env = await home.write('.env', 'TOKEN=secret-canary\n');
  await mkdir(path.join(home.folder, 'data'), { mode: 0o755 });
  await chmod(file, 0o666);
  await chmod(env, 0o644);
  const before = await examine(home, undefined);
  for (const id of ['SECRETS_READABLE', 'CHANGEABLE_BY_OTHERS', 'DATA_READABLE']) before.of(id);
  const readable = before.found.filter(({ id }) => id === 'SECRETS_READABLE').map((one) => one.path);
  assert.deepEqual(readable, [file, env]);
  const after = await examine(home, undefined, { args: ['--fix'] });
  assert.deepEqual([...new Set(after.fixed.map(({ id }) => id))].sort(), [
    'CHANGEABLE_BY_OTHERS',
    'DATA_READABLE',
    'SECRETS_READABLE',
  ]);
  assert.equal(after.ok, true, JSON.stringify(after.found));
  const modes = await Promise.all(
    [file, env, path.join(home.folder, 'data')].map(async (one) => (await stat(one)).mode),
  );
  assert.deepEqual(
    modes.map((mode) => mode & 0o777),
    [0o600, 0o600, 0o700],
  );
  const again = await home.run(['doctor', '--fix']);
  assert.doesNotMatch(again.stdout, /^fixed/m);
});

test('L2 owners that no channel reaches, and a bot that nobody owns', async (t) => {
  const home = await openCliHome(t);
  const away = await examine(home, `[bot]\nname = "Bo"\nowner = ["slack:U1"]\n${telegram}`);
  assert.equal(away.of('OWNER_UNREACHABLE').line, 3);
  assert.equal((await examine(home, telegram)).of('NO_OWNER').level, 'warning');
  // A claim is in the store alone.
  const store = await openStore(`sqlite:${path.join(home.folder, 'data/skillet.db')}`);
  await store.keyed('people').set('owner:telegram:7', true);
  await store.close();
  const claimed = await examine(home, telegram);
  assert.equal(claimed.ok, true);
  assert.match(claimed.checks.find(({ name }) => name === 'channels')?.said ?? '', /owners: telegram:7/);
});

test('L2 Q9 Q10 a store that is in use, newer, older, damaged; none of them is changed', async (t) => {
  const home = await openCliHome(t);
  const file = path.join(home.folder, 'data/skillet.db');
  const toml = `${owned}${telegram}`;
  await (await openStore(`sqlite:${file}`)).close();
  assert.equal((await examine(home, toml)).ok, true);
  const lock = lockOwner(file);
  assert.match((await examine(home, toml)).of('STORE_LOCKED').what, new RegExp(`process ${process.pid}`));
  lock.release();
  const change = (sql: string): void => {
    using db = new DatabaseSync(file);
    db.exec(sql);
  };
  const next = {
    file: 'src/store/sqlite/schema.ts',
    find: '\n];\n',
    put: '\n  `CREATE TABLE more (x)`,\n];\n',
  };
  const cli = copyPatched(t, [next]);
  assert.equal((await examine(home, toml, { cli })).of('STORE_OLDER').level, 'note');
  change('PRAGMA user_version = 999');
  assert.match((await examine(home, toml)).of('STORE_UNUSABLE').what, /written by a newer Skillet/);
  change('PRAGMA user_version = 1; VACUUM');
  const sound = await readFile(file);
  // A page in the middle, as a bad block leaves it.
  await writeFile(file, Buffer.from(sound).fill(0x5a, 8 * 4_096, 9 * 4_096));
  assert.match((await examine(home, toml)).of('STORE_DAMAGED').what, /is damaged: /);
  await writeFile(file, '');
  await mkdir(path.join(home.folder, 'data/audit'), { recursive: true });
  const lines = path.join(home.folder, 'data/audit/2026-01-01.jsonl');
  await writeFile(lines, '{}\n');
  const lost = (await examine(home, toml)).of('STORE_LOST');
  assert.match(lost.what, /the store is empty, but .*audit holds the audit of an earlier one/);
  await rm(path.dirname(lines), { recursive: true });
  assert.equal((await examine(home, toml)).ok, true);
  await writeFile(file, 'no database at all, but long enough for a header of a hundred bytes. '.repeat(20));
  const text = await readFile(file);
  assert.match((await examine(home, toml)).of('STORE_UNUSABLE').what, /not a database/);
  assert.deepEqual(await readFile(file), text);
});

test('L2 Q9 a running bot is no finding: its store and ports are its own', async (t) => {
  const home = await openCliHome(t);
  const bot = await openRunningBot(t, home, `${owned}${sandboxHere}`);
  const { ok, found } = await examine(home, undefined);
  assert.equal(ok, true, JSON.stringify(found));
  await bot.end();
});

test('L2 Q11 what a running bot says of its store is a finding, though its file is whole', async (t) => {
  const home = await openCliHome(t);
  const parsed = parseConfig('', { env: {}, cwd: home.folder });
  assert.ok(parsed.ok);
  const look = { state: 'ready', keys: [] } as const;
  const idOf = async (reason: string) => {
    const { findings } = await checkStore(parsed.config, look, { ok: false, reason, sinceSeconds: 3 });
    return findings.map(({ id, what }) => `${id}: ${what}`);
  };
  assert.deepEqual(await idOf('it is damaged: its journal ends early'), [
    'STORE_DAMAGED: the store: it is damaged: its journal ends early',
  ]);
  assert.deepEqual(await idOf('database or disk is full'), [
    'STORE_UNUSABLE: the store: database or disk is full',
  ]);
});

test('L2 F5 skills that do not load, lack something or have a table for nobody', async (t) => {
  const home = await openCliHome(t);
  const write = async (name: string, text: string): Promise<void> => {
    const folder = path.join(home.folder, 'workspace/skills', name);
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'SKILL.md'), text);
  };
  const skill = (name: string, more = ''): string =>
    `---\nname: ${name}\ndescription: Does it.\n${more}---\nDo it.\n`;
  const user = path.join(home.folder, 'mine');
  await write('broken', '---\nname: broken\ndescription: [\n---\n');
  await mkdir(path.join(user, 'lacking'), { recursive: true });
  await writeFile(
    path.join(user, 'lacking/SKILL.md'),
    skill('lacking', 'packages: [no-such-package-here]\nenv: [LACKING_KEY]\n'),
  );
  const { found, of } = await examine(
    home,
    `${owned}${telegram}[skills]\nuser_dir = "./mine"\n[skills.reserch]\nenabled = false\n` +
      `[skills.lacking]\nallow_users = []\nsensitive = true\nchat_types = ["private", "group"]\n`,
  );
  assert.match(of('SKILL_LACKS').what, /no-such-package-here|LACKING_KEY/);
  assert.equal(found.filter(({ id }) => id === 'SKILL_LACKS').length, 2);
  assert.match(of('SKILL_UNKNOWN').what, /did you mean \[skills\.research\]/);
  assert.match(of('SENSITIVE_IN_GROUPS').what, /^lacking is sensitive/);
  assert.match(of('NOBODY').what, /nobody may use lacking/);
  const broken = found.find(({ path: file }) => file?.includes('broken'));
  assert.equal(broken?.level, 'error');
  assert.match(broken.fix, /skill validate/);
});

test('F5 L2 a file without a name, as Ash and Pegasus write it, is a note: the doctor finds everything in order', async (t) => {
  const home = await openCliHome(t);
  await mkdir(path.join(home.folder, 'mine/notes'), { recursive: true });
  await writeFile(path.join(home.folder, 'mine/notes/SKILL.md'), '---\ndescription: d\n---\nDo it.\n');
  const { ok, of } = await examine(home, `${owned}${telegram}[skills]\nuser_dir = "./mine"\n`);
  const named = of('NAME_MISSING');
  assert.match(named.what, /"notes".*valid here; the Agent Skills specification wants name/);
  assert.match(named.why, /works here/);
  assert.equal(ok, sandboxHere === '' || named.level === 'note');
});

test('L2 too many skills for the menu and for the prompt', async (t) => {
  const home = await openCliHome(t);
  for (let each = 0; each < 120; each += 1) {
    const folder = path.join(home.folder, `mine/skill-${each}`);
    await mkdir(folder, { recursive: true });
    const text = `---\nname: skill-${each}\ndescription: ${'Does many things. '.repeat(20)}\n---\nDo it.\n`;
    await writeFile(path.join(folder, 'SKILL.md'), text);
  }
  const { of } = await examine(home, `${owned}${telegram}[skills]\nuser_dir = "./mine"\n`);
  assert.match(of('MENU_FULL').what, /1\d\d commands/);
  assert.match(of('CATALOGUE_SHORTENED').what, /descriptions are cut/);
});

test('L2 N7 a hook that nobody would hear is named with its line, and one without its secret is a problem of the config', async (t) => {
  const home = await openCliHome(t);
  const hook = (as: string, conversation: string, name: string): string =>
    `[[hooks]]\nname = "${name}"\nsecret = "$HOOK_SECRET"\nconversation = "${conversation}"\nas = "${as}"\n`;
  const toml = [
    `${owned}${telegram}[access]\ngroups = ["telegram:-1001"]\n`,
    hook('telegram:42', 'telegram:-1001', 'good'),
    hook('telegram:43', 'telegram:-1001', 'stranger'),
    hook('telegram:42', 'telegram:44', 'direct'),
    hook('telegram:42', 'telegram:-1002', 'group'),
    hook('slack:U1', 'slack:C1', 'slack'),
  ].join('');
  const { found, of, checks } = await examine(home, toml, { env: { HOOK_SECRET: '0123456789abcdef' } });
  assert.deepEqual([of('HOOK_CHANNEL').line, of('HOOK_REFUSED').line], [30, 16]);
  const whats = found.filter(({ id }) => id.startsWith('HOOK')).map(({ what }) => what);
  assert.deepEqual(whats, [
    'hook stranger: telegram:43 may not talk to the bot in telegram:-1001 until [access] users lists "telegram:43"',
    'hook direct: telegram:44 is a direct message of somebody else than telegram:42',
    'hook group: telegram:-1002 is not in [access] groups',
    'hook slack: [slack] has no token, so nobody can be told there',
  ]);
  const said = checks.find(({ name }) => name === 'hooks')?.said;
  assert.equal(said, 'good, stranger, direct, group, slack, on 127.0.0.1:9464');
  const lacking = await examine(home, toml);
  assert.match(lacking.of('CONFIG_INVALID').what, /hooks\[0\]\.secret is "\$HOOK_SECRET"/);
});

test('L2 A9 doors that stand open are named with their lines', async (t) => {
  const home = await openCliHome(t);
  const { of } = await examine(
    home,
    `${owned}${telegram}[access]\ndm = "open"\n[access.telegram]\ngroups_mode = "open"\n[access.chats."slack:C1"]\nusers = ["slack:*"]\n`,
  );
  assert.equal(of('DM_OPEN').line, 6);
  assert.equal(of('GROUPS_OPEN').line, 8);
  assert.deepEqual([of('EVERYBODY').line, of('EVERYBODY').level], [10, 'note']);
});

test('L2 T9 a sandbox that is off, or the virtual one for want of bubblewrap', async (t) => {
  const home = await openCliHome(t);
  const off = await examine(home, `${owned}${telegram}`, { sandbox: '[sandbox]\nmode = "off"\n' });
  assert.equal(off.of('SANDBOX_OFF').level, 'warning');
  const virtual = await examine(home, `${owned}${telegram}`, { env: { PATH: '/nowhere' }, sandbox: '' });
  assert.match(virtual.of('SANDBOX_VIRTUAL').fix, /apt-get install bubblewrap/);
  const asked = await examine(home, `${owned}${telegram}`, { sandbox: '[sandbox]\nmode = "virtual"\n' });
  assert.equal(asked.ok, true);
});

test('L2 an old Node, a clock that is behind, a disk that is full', async (t) => {
  const home = await openCliHome(t);
  const file = await home.write('config.toml', '');
  const machine: Machine = {
    node: '22.1.0',
    now: Date.parse('2001-01-01'),
    free: () => 40_000_000,
    mostFiles: 64,
  };
  const bot = { dataDir: path.join(home.folder, 'none/data'), workspace: home.folder };
  const checks = [
    checkNode(machine),
    checkClock(machine, [file]),
    checkDisk(machine, { bot } as Parameters<typeof checkDisk>[1]),
    ...checkOpenFiles(machine),
  ];
  const found = checks.flatMap(({ findings }) => findings);
  assert.deepEqual(
    found.map(({ id, level }) => [id, level]),
    [
      ['NODE_OLD', 'error'],
      ['CLOCK_WRONG', 'error'],
      ['DISK_LOW', 'error'],
      ['FILES_FEW', 'warning'],
    ],
  );
  for (const { id } of found) provoked.add(id);
  assert.match(found[0]?.what ?? '', /Node 22\.1\.0, and Skillet needs 24/);
});

test('L2 --online asks Telegram: token, privacy mode, webhook, owners', async (t) => {
  const home = await openCliHome(t);
  const server = await startTelegramServer();
  t.after(() => server.close());
  const ann = server.person({ name: 'Ann' });
  ann.says('hello');
  const toml = (owner: number, token = server.token): string =>
    `[bot]\nowner = ["telegram:${owner}"]\n[telegram]\ntoken = "${token}"\napi_root = "${server.url}"\n`;
  const online = { args: ['--online'] };
  const good = await examine(home, toml(ann.id), online);
  assert.equal(good.ok, true);
  assert.equal(good.of('TELEGRAM_PRIVACY').level, 'note');
  assert.equal((await examine(home, toml(999), online)).of('OWNER_UNREACHABLE').level, 'warning');
  const wrong = await examine(home, toml(ann.id, '123456789:AAwrongwrongwrongwrongwrongwrongwrong'), online);
  assert.match(wrong.of('TELEGRAM_REFUSED').what, /401/);
  assert.ok(!JSON.stringify(wrong).includes('AAwrong'));
  await fetch(`${server.url}/bot${server.token}/setWebhook?url=https://elsewhere.example/hook`);
  assert.match((await examine(home, toml(ann.id), online)).of('TELEGRAM_WEBHOOK').what, /elsewhere\.example/);
  await server.close();
  assert.equal((await examine(home, toml(ann.id), online)).of('TELEGRAM_UNREACHABLE').level, 'error');
  assert.deepEqual(server.calls('getUpdates'), []);
});

test('L2 --online asks Slack: both tokens, scopes', async (t) => {
  const home = await openCliHome(t);
  const server = await startSlackServer({ scopes: ['chat:write', 'im:history'] });
  t.after(() => server.close());
  const toml = ({ bot, app }: Readonly<{ bot: string; app: string }>): string =>
    `[bot]\nowner = ["slack:U1"]\n[slack]\nbot_token = "${bot}"\napp_token = "${app}"\napi_url = "${server.url}"\n`;
  const online = { args: ['--online'] };
  const scopes = (await examine(home, toml(server.tokens), online)).of('SLACK_SCOPES');
  assert.match(scopes.what, /commands \(the slash command\)/);
  assert.doesNotMatch(scopes.what, /chat:write|reactions:write|assistant:write/);
  const wrong = await examine(home, toml({ ...server.tokens, app: 'xapp-wrong' }), online);
  assert.match(
    wrong.of('SLACK_REFUSED').what,
    /^slack\.app_token: Slack refused apps\.connections\.open: invalid_auth/,
  );
  server.faults.next('auth.test', { kind: 'status', status: 502 });
  assert.match((await examine(home, toml(server.tokens), online)).of('SLACK_UNREACHABLE').what, /HTTP 502/);
});

test('L2 --online asks the model for one word', async (t) => {
  const home = await openCliHome(t);
  const server = await startMessagesServer({ script: ['ok'], apiKey: 'sk-good' });
  t.after(() => server.close());
  const toml = (key: string): string =>
    `${owned}[models.default]\nmodel = "claude-haiku-5-5"\nbase_url = "${server.url}"\napi_key = "${key}"\n`;
  const good = await examine(home, toml('sk-good'), { args: ['--online'] });
  assert.equal(good.ok, true, JSON.stringify(good.found));
  assert.match(good.checks.at(-1)?.said ?? '', /^claude-haiku-5-5 answered in /);
  assert.equal(server.requests.length, 1);
  const bad = await examine(home, toml('sk-bad'), { args: ['--online'] });
  assert.match(bad.of('MODEL_FAILED').what, /401/);
});

test('M17 --models asks each alias for a stream, a tool call and a picture, and says what it can not do', async (t) => {
  const home = await openCliHome(t);
  const able = await startChatServer({ script: abilities({ sees: true, calls: true }), apiKey: 'sk-good' });
  const poor = await startChatServer({
    script: abilities({ sees: false, calls: false }),
    apiKey: 'none',
    loose: { noStream: true },
    like: 'other',
  });
  const claude = await startMessagesServer({ script: abilities({ sees: true, calls: true }) });
  t.after(() => Promise.all([able, poor, claude].map((server) => server.close())));
  const toml = (more = ''): string => `${owned}
[models.default]
api = "openai"
model = "gpt-5.4"
base_url = "${able.url}"
api_key = "sk-good"
[models.local]
api = "openai"
model = "qwen3:8b"
base_url = "${poor.url}"
[models.claude]
model = "claude-sonnet-5-5"
base_url = "${claude.url}"
api_key = "k"
${more}`;
  const found = await examine(home, toml(), { args: ['--models'] });
  const said = Object.fromEntries(found.checks.map((one) => [one.name, one.said]));
  assert.equal(said['model default'], 'gpt-5.4: text, stream, tool call, picture');
  assert.equal(said['model claude'], 'claude-sonnet-5-5: text, stream, tool call, picture');
  assert.equal(said['model local'], 'qwen3:8b: text');
  const lacking = found.found.filter(({ id }) => id === 'MODEL_LACKS');
  assert.deepEqual(
    lacking.map(({ what, level }) => [
      /model local has no (stream|tool call|picture): /.exec(what)?.[1],
      level,
    ]),
    [
      ['stream', 'note'],
      ['tool call', 'warning'],
      ['picture', 'note'],
    ],
  );
  found.of('MODEL_LACKS');

  const wrong = toml(`[models.key]
api = "openai"
model = "gpt-5.4"
base_url = "${able.url}"
api_key = "sk-bad"
[models.path]
api = "openai"
model = "gpt-5.4"
base_url = "${able.url.replace('/v1', '')}"
api_key = "sk-good"
[models.gone]
api = "openai"
model = "gpt-5.4"
base_url = "http://127.0.0.1:1/v1"
`);
  const bad = await examine(home, wrong, { args: ['--models'] });
  const fixOf = (alias: string): string =>
    bad.found
      .flatMap(({ what, fix }) => (what.startsWith(`model ${alias}:`) ? [`${what} ${fix}`] : []))
      .join();
  assert.match(fixOf('key'), /\(401\): Incorrect API key.*Check the API key/);
  assert.match(fixOf('path'), /\(404\): Invalid URL.*want \/v1 at its end/);
  assert.match(fixOf('gone'), /fetch failed.*Check that a server answers at http:\/\/127\.0\.0\.1:1\/v1/);
});

test('M17 a package that is missing stops start, config check and the doctor, with the line that installs it', async (t) => {
  const home = await openCliHome(t);
  const file = 'src/agent/models/model-place.ts';
  const cli = copyPatched(t, [
    { file, find: "bedrock: '@anthropic-ai/bedrock-sdk'", put: "bedrock: '@anthropic-ai/gone'" },
  ]);
  const toml = `${owned}${telegram}[models.default]\napi = "bedrock"\nmodel = "anthropic.claude-sonnet-5-5"\n`;
  const { what, level, line } = (await examine(home, toml, { cli })).of('MODEL_PACKAGE');
  assert.equal(level, 'error');
  assert.equal(line, 6);
  assert.match(what, /needs the package @anthropic-ai\/gone: npm install @anthropic-ai\/gone/);
  for (const args of [['config', 'check'], ['start']]) {
    const { code, stdout, stderr } = await home.runAlone(args, { cli });
    assert.equal(code, 1);
    assert.match(stdout + stderr, /MODEL_PACKAGE: .*npm install @anthropic-ai\/gone/);
  }
  assert.ok(
    (await examine(home, toml)).found.every(({ id }) => id !== 'MODEL_PACKAGE'),
    'here it is installed',
  );
});

/** The answers of a model to the questions of `doctor --models`. */
function abilities({ sees, calls }: Readonly<{ sees: boolean; calls: boolean }>): Script {
  return ({ messages, tools }) => {
    const asked = JSON.stringify(messages);
    if (tools !== undefined && calls)
      return { content: [{ type: 'tool_use', name: 'note_word', input: { word: 'ok' } }] };
    if (asked.includes('Which colour'))
      return sees && asked.includes('image/png') ? 'Red.' : 'I can not tell.';
    return asked.includes('Count') ? '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15' : 'ok';
  };
}

test('L2 T8 an approver who is no user, and a folder of skills that is not there, are named', async (t) => {
  const home = await openCliHome(t);
  const toml = '[policy]\napprovers = ["telegram:44"]\n[skills]\nuser_dir = "/nope/x"\n';
  const found = await examine(home, toml);
  assert.equal(found.of('APPROVER_NO_USER').line, 2);
  assert.equal(found.of('FOLDER_MISSING').line, 4);
  const rule = '[[policy.rules]]\ntool = "x"\naction = "confirm"\nfour_eyes = true\n';
  const alone = await examine(home, rule);
  assert.match(alone.of('FOUR_EYES_ALONE').what, /tool "x"/);
});

test('L2 X7 servers that are away, and tools that wait for the operator, are named', async (t) => {
  const home = await openCliHome(t);
  await home.write('config.toml', `${owned}[mcp.gone]\nurl = "http://127.0.0.1:9/mcp"\n`);
  const found = await examine(home, undefined, { args: ['--online'] });
  assert.match(found.of('MCP_AWAY').what, /^the MCP server gone is away: ./);
  const states = [{ name: 'notes', is: 'connected', since: 1, tools: 3, waiting: 2 }] as const;
  const [off] = checkServers(states)?.findings ?? [];
  assert.equal(off?.id, 'MCP_TOOLS_OFF');
  provoked.add(off.id);
});

test('L2 every id of the doctor is provoked by a test here', () => {
  // A feature has tests of its own for what it finds.
  const own = [...allReasons().keys()].filter((id) => !Object.hasOwn(featureReasons(), id));
  for (const id of own) assert.ok(provoked.has(id), `nothing provokes ${id}`);
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { lockOwner } from '../../src/store/sqlite/lock-owner.ts';
import { startMessagesServer } from '../servers/messages/messages-server.ts';
import { childEnv } from '../support/child-env.ts';
import { cliPath } from '../support/cli-path.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';
import { startRunningBot } from '../support/running-bot.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';

const storeUrl = ({ folder }: CliHome): string => `sqlite:${path.join(folder, 'data/skillet.db')}`;

/** Every file below, with its text. */
function everything(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const file = path.join(parentPath, name);
      return [path.relative(folder, file), readFileSync(file, 'latin1')];
    }),
  );
}

/** A bot that rests, with something of everything that an archive holds. */
async function restingBot(t: TestContext): Promise<CliHome> {
  const home = await openCliHome(t);
  await home.write('config.toml', '# mine\n[bot]\nowner = ["telegram:1"]\n');
  await home.write('.env', 'TOKEN_OF_TEST=canary-token\n');
  await home.write('access.tests.toml', '');
  for (const [name, text] of [
    ['workspace/skills/own/SKILL.md', '---\nname: own\ndescription: Mine.\n---\nBody.\n'],
    ['workspace/skills/own/run.sh', '#!/bin/sh\n'],
    ['workspace/chats/telegram-1/Grüße an alle.txt', 'hello'],
    ['workspace/received/telegram-1/file', 'picture'],
    ['workspace/outgoing/id', 'waits'],
    ['workspace/runs/run-1/scratch', 'only for this run'],
    ['.skillet/skills/mine/SKILL.md', '---\nname: mine\ndescription: Mine, too.\n---\nBody.\n'],
    ['data/skills.lock.toml', ''],
    ['data/installed/hash/tides/SKILL.md', 'tides'],
    ['data/capabilities.key', 'key'],
    ['data/cache/big', 'can be made again'],
  ] as const) {
    await mkdir(path.dirname(path.join(home.folder, name)), { recursive: true, mode: 0o700 });
    await home.write(name, text);
  }
  await chmod(path.join(home.folder, 'workspace/skills/own/run.sh'), 0o755);
  symlinkSync('/etc/passwd', path.join(home.folder, 'workspace/chats/telegram-1/link'));
  const store = await openStore(storeUrl(home));
  await store.keyed('people').set('paired:telegram:7', { sender: 'telegram:7', name: 'Gus', since: 1 });
  await store.close();
  return home;
}

function historyOf({ messages }: MessagesRequest): string {
  return JSON.stringify(messages);
}

test('L16 Q10 Q9 L6 a backup made while a bot works hard goes on as the same bot on another machine', async (t) => {
  const messages = await startMessagesServer({
    script: (request) => (historyOf(request).includes('my cat is Tom') ? 'Tom it is.' : 'Which cat?'),
  });
  t.after(() => messages.close());
  const home = await openCliHome(t);
  const first = await startRunningBot(
    t,
    home,
    `[access]\ndm = "open"\n[models.default]\nmodel = "m"\nbase_url = "${messages.url}"\napi_key = "test-key-0123456789"\n`,
  );
  assert.match(await readFile(path.join(home.folder, 'data/audit.key'), 'utf8'), /^[0-9a-f]{64}\n$/);
  const { telegram } = first;
  const ann = telegram.person({ name: 'Ann' });
  ann.says('my cat is Tom');
  await ann.dm.nextMessage('Tom it is.');
  const crowd = Array.from({ length: 20 }, (_, n) => telegram.person({ name: `P${n}` }));
  for (const one of crowd) for (let n = 0; n < 5; n++) one.says(`/dice ${n + 1}d6`);
  const made = await home.runAlone(['backup', 'one.tar']);
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /one\.tar is written \([\d.]+ [kM]B\), readable only by you\. It contains:/);
  assert.match(made.stdout, /^ {2}store .* 1 file/m);
  assert.match(made.stdout, /^ {2}keys .* 1 file/m);
  assert.match(made.stderr, /100 %\n$/);
  await Promise.all(crowd.map((one) => one.dm.nextMessage()));
  assert.equal(await first.end(), 0);

  const other = await openCliHome(t);
  const archive = path.join(home.folder, 'one.tar');
  const restored = await other.run(['restore', archive]);
  assert.equal(restored.code, 0, restored.stderr);
  assert.match(restored.stdout, /^ {2}store +\S+\/data\/skillet\.db$/m);
  const verified = await other.run(['audit', 'verify']);
  assert.equal(verified.code, 0, verified.stdout + verified.stderr);
  assert.match(verified.stdout, /\d+ lines/);

  const menus = telegram.calls('setMyCommands').length;
  const second = spawn(process.execPath, [cliPath, 'start'], {
    ...{ cwd: other.folder, env: childEnv(other.folder), stdio: ['ignore', 'ignore', 'pipe'] },
  });
  const said: string[] = [];
  second.stderr.setEncoding('utf8').on('data', (part: string) => said.push(part));
  t.after(() => {
    second.kill('SIGKILL');
    // The types lack "passed".
    if ('passed' in t && t.passed === false)
      t.diagnostic(`the second bot said: ${said.join('').slice(-2_000)}`);
  });
  await telegram.until('the menus', () => telegram.calls('setMyCommands').length > menus + 1);
  ann.says('what is my cat called?');
  await ann.dm.nextMessage('Tom it is.');
  const ended = once(second, 'exit');
  second.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  const after = await other.run(['audit', 'verify']);
  assert.equal(after.code, 0, after.stdout + after.stderr);
});

test('L16 an archive holds keys, config, audit, skills and files; .env only with --secrets; and nothing that can be made again', async (t) => {
  const home = await restingBot(t);
  assert.equal((await home.run(['pair', 'revoke', 'telegram:7'])).code, 0);
  const made = await home.run(['backup', 'one.tar']);
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /Without \.env: --secrets includes it\./);
  assert.match(made.stdout, /Left out, .*: workspace\/chats\/telegram-1\/link\./);
  assert.match(made.stdout, /Keep this file secret/);
  const file = path.join(home.folder, 'one.tar');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.ok(!readFileSync(file).includes('canary-token'));
  assert.match((await home.run(['backup', 'one.tar'])).stderr, /one\.tar is there already/);
  const { stdout } = await home.run(['backup', 'two.tar', '--secrets', '--json']);
  const said = JSON.parse(stdout) as { bytes: number; held: readonly { name: string }[] };
  const two = path.join(home.folder, 'two.tar');
  assert.equal(said.bytes, statSync(two).size);
  assert.ok(said.held.some(({ name }) => name === 'config/.env'));
  assert.deepEqual(
    readdirSync(path.join(home.folder, 'data')).filter((name) => name.startsWith('backup-')),
    [],
  );

  const before = everything(home.folder);
  const to = await openCliHome(t);
  const restored = await to.run(['restore', two, '--to', 'bot', '--elsewhere']);
  assert.equal(restored.code, 0, restored.stderr);
  const after = everything(to.folder);
  for (const [name, text] of Object.entries(before)) {
    const place = name.startsWith('.skillet/') ? name : `bot/${name}`;
    const isLeftOut = /\.tar$|^workspace\/runs|^data\/(cache|bot\.|skillet\.db\.)/.test(name);
    if (name === 'data/skillet.db') assert.ok(place in after);
    else assert.equal(after[place], isLeftOut ? undefined : text, name);
  }
  const bot = path.join(to.folder, 'bot');
  assert.equal(statSync(path.join(bot, 'workspace/skills/own/run.sh')).mode & 0o777, 0o755);
  for (const secret of ['config.toml', '.env', 'data/skillet.db', 'data/audit.key', 'data/capabilities.key'])
    assert.equal(statSync(path.join(bot, secret)).mode & 0o777, 0o600, secret);
  assert.equal(statSync(path.join(bot, 'data')).mode & 0o777, 0o700);
  const listed = await to.run(['pair', 'list', '--json', '--config', 'bot/config.toml']);
  assert.deepEqual((JSON.parse(listed.stdout) as { owners: unknown; paired: unknown }).owners, [
    'telegram:1',
  ]);
});

test('L16 restore overwrites nothing, and leaves skills of yours that are there as they are', async (t) => {
  const home = await restingBot(t);
  assert.equal((await home.run(['backup', 'one.tar'])).code, 0);
  const before = everything(home.folder);
  const refused = await home.run(['restore', 'one.tar']);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /Nothing was restored, because this is there already: .*config\.toml, .*skillet\.db/,
  );
  assert.match(refused.stderr, /--to FOLDER/);
  assert.deepEqual(everything(home.folder), before);
  const beside = await home.run(['restore', 'one.tar', '--to', 'copy']);
  assert.equal(beside.code, 0, beside.stderr);
  assert.match(beside.stdout, /\.skillet\/skills has files already and stays as it is\./);
  assert.ok(existsSync(path.join(home.folder, 'copy/data/skillet.db')));
  for (const args of [
    ['--config', 'config.toml'],
    ['--store-only', '--to', 'x'],
  ])
    assert.equal((await home.run(['restore', 'one.tar', ...args])).code, 1);
});

test('L16 a cut, damaged, foreign or newer archive is refused, and nothing is written', async (t) => {
  const home = await restingBot(t);
  assert.equal((await home.run(['backup', 'one.tar'])).code, 0);
  const whole = await readFile(path.join(home.folder, 'one.tar'));
  const empty = await openCliHome(t);
  const refused = async (bytes: Uint8Array, why: RegExp): Promise<void> => {
    const file = await home.write('bad.tar', '');
    await writeFile(file, bytes);
    const { code, stderr } = await empty.run(['restore', file, '--to', 'deep/bot']);
    assert.equal(code, 1);
    assert.match(stderr, why);
    assert.match(stderr, /Nothing was (written|restored)/);
    assert.deepEqual(await readdir(empty.folder), []);
  };
  for (const part of [0.1, 0.5, 0.9]) await refused(whole.subarray(0, whole.length * part), /cut off/);
  // A cut between two files, closed as an archive.
  const last = whole.lastIndexOf('end.json\0');
  await refused(Buffer.concat([whole.subarray(0, last), Buffer.alloc(1_024)]), /cut off/);
  const changed = Buffer.from(whole);
  changed.write('# yours', whole.indexOf('# mine'));
  await refused(changed, /damaged: its checksum is another one/);
  await refused(Buffer.from('nothing like an archive. '.repeat(100)), /damaged at byte 0/);
  const newer = Buffer.from(whole);
  newer.write('"format": 2', whole.indexOf('"format": 1'));
  await refused(newer, /a form that this version does not know\. Update Skillet/);
  await refused(Buffer.alloc(1_024), /no backup of Skillet/);
  const none = await empty.run(['restore', path.join(home.folder, 'none.tar')]);
  assert.match(none.stderr, /There is no .*none\.tar/);
});

test('L16 a failure in the middle of a restore leaves nothing', async (t) => {
  const home = await restingBot(t);
  await home.write('config.toml', '[store]\nurl = "sqlite:blocked/skillet.db"\n');
  assert.equal((await home.run(['backup', 'one.tar'])).code, 0);
  const to = await openCliHome(t);
  await mkdir(path.join(to.folder, 'bot'));
  await to.write('bot/blocked', 'a file where the folder of the store has to be');
  const { code, stderr } = await to.run(['restore', path.join(home.folder, 'one.tar'), '--to', 'bot']);
  assert.equal(code, 1);
  assert.match(stderr, /blocked/);
  assert.deepEqual(await readdir(to.folder), ['bot']);
  assert.deepEqual(await readdir(path.join(to.folder, 'bot')), ['blocked']);
});

test('L16 Q10 a backup that can not be written says so and leaves nothing', async (t) => {
  const home = await restingBot(t);
  const { code, stderr } = await home.run(['backup', 'no/such/one.tar']);
  assert.equal(code, 1);
  assert.match(stderr, /could not be written/);
  const left = Object.keys(everything(home.folder)).filter((name) => /\.part|backup-|one\.tar/.test(name));
  assert.deepEqual(left, []);
});

test('L16 Q8 Q14 with PostgreSQL the archive holds all but the database, which has the files, and names pg_dump', async (t) => {
  const server = await startPostgres();
  if (server === undefined) return t.skip(noPostgres);
  t.after(() => server.close());
  const home = await restingBot(t);
  const url = await server.database();
  await home.write('config.toml', `[store]\nurl = "${url}"\n`);
  const made = await home.run(['backup', 'one.tar']);
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /Not the database: .*pg_dump --format=custom/);
  const to = await openCliHome(t);
  const restored = await to.run(['restore', path.join(home.folder, 'one.tar')]);
  assert.equal(restored.code, 0, restored.stderr);
  assert.match(restored.stdout, /pg_restore/);
  assert.equal(existsSync(path.join(to.folder, 'data/skillet.db')), false);
  assert.equal(existsSync(path.join(to.folder, 'workspace/outgoing')), false);
  const rows = await server.run(url, `SELECT path FROM skillet.files WHERE folder = 'outgoing'`);
  assert.deepEqual(rows, [{ path: 'id' }]);
});

test('L16 variables that the config needs for its places are named', async (t) => {
  const home = await restingBot(t);
  await home.write('config.toml', '[bot]\ndata_dir = "$PLACE"\n[telegram]\ntoken = "$ITS_TOKEN"\n');
  const env = { PLACE: path.join(home.folder, 'data'), ITS_TOKEN: '1:x' };
  assert.equal((await home.run(['backup', 'one.tar'], { env })).code, 0);
  const to = await openCliHome(t);
  const archive = path.join(home.folder, 'one.tar');
  const refused = await to.run(['restore', archive]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /Nothing was restored[^]*bot\.data_dir .* no PLACE/);
  assert.doesNotMatch(refused.stderr, /ITS_TOKEN/);
  const done = await to.run(['restore', archive], { env: { PLACE: path.join(to.folder, 'place') } });
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stdout, /set the variables that/);
  assert.ok(existsSync(path.join(to.folder, 'place/skillet.db')));
});

test('L16 Q10 restore --store-only puts the store of a backup in the place of the store, and keeps what was there', async (t) => {
  const home = await openCliHome(t);
  await home.write('config.toml', '');
  const paired = async (name: string): Promise<void> => {
    const store = await openStore(storeUrl(home));
    await store.keyed('people').set(`paired:${name}`, { sender: name, name, since: 1 });
    await store.close();
  };
  await paired('telegram:1');
  assert.equal((await home.run(['backup', 'one.tar'])).code, 0);
  await paired('telegram:2');
  const unasked = await home.run(['restore', 'one.tar', '--store-only']);
  assert.equal(unasked.code, 2);
  assert.match(unasked.stderr, /add --yes/);
  const file = path.join(home.folder, 'data/skillet.db');
  const lock = lockOwner(file);
  assert.match((await home.run(['restore', 'one.tar', '--store-only', '--yes'])).stderr, /in use by process/);
  lock.release();
  const before = await readFile(file);
  for (const [name, text] of [
    ['text.db', 'nothing like a database, but long enough to look at. '.repeat(30)],
    ['empty.db', ''],
  ] as const) {
    await home.write(name, text);
    assert.equal((await home.run(['restore', name, '--yes'])).code, 1, name);
  }
  assert.match((await home.run(['restore', 'none.db', '--yes'])).stderr, /There is no .*none\.db/);
  assert.deepEqual(await readFile(file), before);
  const done = await home.run(['restore', 'one.tar', '--store-only', '--yes']);
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stdout, /skillet\.db is restored\. The old one is .*skillet\.db\.before-/);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const { stdout } = await home.run(['pair', 'list', '--json']);
  assert.deepEqual(
    (JSON.parse(stdout) as { paired: readonly { sender: string }[] }).paired.map(({ sender }) => sender),
    ['telegram:1'],
  );
  const kept = (await readdir(path.dirname(file))).filter((name) => name.includes('.before-'));
  assert.ok(kept.some((name) => name.endsWith('Z')));
  await writeFile(path.join(home.folder, 'config.toml'), '[store]\nurl = "postgres://u@127.0.0.1:1/db"\n');
  assert.match((await home.run(['restore', 'one.tar', '--store-only', '--yes'])).stderr, /pg_restore/);
});

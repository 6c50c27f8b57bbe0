import assert from 'node:assert/strict';
import { existsSync, symlinkSync } from 'node:fs';
import { mkdir, open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { createTarWriter } from '../../src/lib/files/tar.ts';
import { openStore } from '../../src/store/open-store.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';

type Members = Readonly<Record<string, string | Uint8Array>>;

/** An archive as anybody could make one: its checksum is right. */
async function makeArchive(
  home: CliHome,
  {
    config,
    store = 'none',
    ...rest
  }: Readonly<{ config: string; store?: string; members?: Members; mode?: number }>,
): Promise<string> {
  const file = path.join(home.folder, 'made.tar');
  const handle = await open(file, 'w');
  const tar = createTarWriter(handle);
  const add = (name: string, text: string | Uint8Array): Promise<void> => {
    const bytes = Buffer.from(text);
    return tar.add({ name, size: bytes.length, mode: rest.mode ?? 0o600, mtimeMs: 1_000 }, [bytes]);
  };
  const head = { format: 1, skillet: '1.0.0', at: '2026-11-28T00:00:00Z', config: 'config.toml', store };
  await add('backup.json', JSON.stringify(head));
  await add('config/config.toml', config);
  for (const [name, text] of Object.entries(rest.members ?? {})) await add(name, text);
  await add('end.json', JSON.stringify({ sha256: tar.sha256() }));
  await tar.end();
  await handle.close();
  return file;
}

/** A whole store in the form in which bots use it. */
async function storeBytes(t: TestContext): Promise<Buffer> {
  const home = await openCliHome(t);
  const file = path.join(home.folder, 's.db');
  const store = await openStore(`sqlite:${file}`);
  for (let n = 0; n < 500; n++) await store.keyed('people').set(`paired:telegram:${n}`, 'x'.repeat(200));
  await store.close();
  return readFile(file);
}

async function names(folder: string): Promise<readonly string[]> {
  return (await readdir(folder, { recursive: true })).toSorted();
}

test('S18 restore writes inside its folder only: places outside are listed with what led there, and nothing is written', async (t) => {
  const from = await openCliHome(t);
  const to = await openCliHome(t);
  const out = path.join(to.folder, 'out');
  const cases: readonly (readonly [config: string, member: string, why: RegExp])[] = [
    [
      `[skills]\nuser_dir = "${out}"`,
      'user-skills/authorized_keys',
      /user-skills to \S+out: \[skills\] user_dir/,
    ],
    ['[skills]\nuser_dir = "../out"', 'user-skills/authorized_keys', /\[skills\] user_dir/],
    ['[skills]\nuser_dir = "~/out"', 'user-skills/authorized_keys', /\[skills\] user_dir/],
    ['', 'user-skills/mine/SKILL.md', /\.skillet\/skills: \[skills\] user_dir/],
    ['[skills]\nuser_dir = "."', 'user-skills/config.toml', /\[skills\] user_dir/],
    [`[bot]\ndata_dir = "${out}"`, 'data/audit.key', /data\/audit\.key to \S+: \[bot\] data_dir/],
    [`[bot]\ndata_dir = "${out}"`, 'data/installed/x', /\[bot\] data_dir/],
    [`[bot]\nworkspace = "../bot-2"`, 'workspace/chats/x/y', /\[bot\] workspace/],
    [`[capabilities]\nkey_file = "${out}/key"`, 'data/capabilities.key', /\[capabilities\] key_file/],
    [`[store]\nurl = "sqlite:${out}/s.db"`, 'store.db', /store\.db to \S+: \[store\] url/],
  ];
  const bytes = await storeBytes(t);
  for (const [config, member, why] of cases) {
    const hasStore = member === 'store.db';
    const members = { [member]: hasStore ? bytes : 'mine' };
    const file = await makeArchive(from, { config, members, store: hasStore ? 'copied' : 'none' });
    const { code, stderr } = await to.run(['restore', file, '--to', 'bot']);
    assert.equal(code, 1, config);
    assert.match(stderr, /Nothing was restored, because the archive would write outside \S+bot:/, config);
    assert.match(stderr, why);
    assert.match(stderr, /--elsewhere/);
    assert.deepEqual(await names(to.folder), [], config);
  }
});

test('S18 --elsewhere lists the places outside the folder and then writes them', async (t) => {
  const from = await openCliHome(t);
  const to = await openCliHome(t);
  const members = { 'user-skills/mine/SKILL.md': 'mine', 'data/audit.key': 'key' };
  const file = await makeArchive(from, { config: '[skills]\nuser_dir = "../skills"', members });
  const { code, stdout, stderr } = await to.run(['restore', file, '--to', 'bot', '--elsewhere']);
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^These places are outside \S+bot:\n {2}user-skills to \S+skills: \[skills\] user_dir[^\n]+\nRestored from/,
  );
  assert.equal(await readFile(path.join(to.folder, 'skills/mine/SKILL.md'), 'utf8'), 'mine');
  assert.equal((await to.run(['restore', file, '--store-only', '--elsewhere'])).code, 1);
});

test('S18 links in the folder lead restore nowhere else, whether their ends are there or not', async (t) => {
  const from = await openCliHome(t);
  const file = await makeArchive(from, { config: '', members: { 'data/audit.key': 'key' } });
  for (const isThere of [true, false]) {
    const to = await openCliHome(t);
    await mkdir(path.join(to.folder, 'bot'));
    if (isThere) await mkdir(path.join(to.folder, 'out'));
    symlinkSync('../out', path.join(to.folder, 'bot/data'));
    const before = await names(to.folder);
    const { code, stderr } = await to.run(['restore', file, '--to', 'bot']);
    assert.equal(code, 1);
    assert.match(stderr, /out\/audit\.key: a link in \S+bot leads there/);
    assert.deepEqual(await names(to.folder), before);
  }
  // A link to the folder itself is the person's own choice.
  const to = await openCliHome(t);
  await mkdir(path.join(to.folder, 'disk'));
  symlinkSync('disk', path.join(to.folder, 'bot'));
  const { code, stderr } = await to.run(['restore', file, '--to', 'bot']);
  assert.equal(code, 0, stderr);
  assert.ok(existsSync(path.join(to.folder, 'disk/data/audit.key')));
});

test('S18 an archive does not write to the terminal with the names of its places', async (t) => {
  const from = await openCliHome(t);
  const config = '[skills]\nuser_dir = "/tmp/a\\u001b[2J\\nRestored."';
  const file = await makeArchive(from, { config, members: { 'user-skills/x': 'x' } });
  const { code, stderr } = await from.run(['restore', file, '--to', 'bot']);
  assert.equal(code, 1);
  assert.ok(!stderr.includes('\u001b[2J') && !stderr.includes('\nRestored.'), stderr);
});

test('L16 restore checks the copy of the store, passes over no unknown member, and leaves nothing of its drafts', async (t) => {
  const from = await openCliHome(t);
  const to = await openCliHome(t);
  const restore = (file: string) => to.run(['restore', file, '--to', 'bot']);
  const whole = await storeBytes(t);
  const damaged = Buffer.from(whole);
  // All but the page with the schema.
  damaged.fill(0xff, 8_192);
  for (const [bytes, why] of [
    [damaged, /damaged|malformed|can't be restored/],
    [Buffer.from('no database'), /can't be restored/],
    [Buffer.alloc(0), /no backup of a store/],
  ] as const) {
    const members = { 'data/audit.key': 'key', 'store.db': bytes };
    const refused = await restore(await makeArchive(from, { config: '', store: 'copied', members }));
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, why);
    assert.deepEqual(await names(to.folder), []);
  }
  for (const name of ['data/later.bin', 'store.db/x', 'config/other.toml', 'readme']) {
    const unknown = await restore(await makeArchive(from, { config: '', members: { [name]: 'x' } }));
    assert.equal(unknown.code, 1, name);
    assert.match(unknown.stderr, new RegExp(`does not know what ${name} in the archive is`));
    assert.deepEqual(await names(to.folder), []);
  }
  const done = await restore(
    await makeArchive(from, { config: '', store: 'copied', members: { 'store.db': whole } }),
  );
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual(await names(to.folder), ['bot', 'bot/config.toml', 'bot/data', 'bot/data/skillet.db']);
});

test('L16 S18 what is restored only its owner may write, with its time, where the variables of this machine say', async (t) => {
  const from = await openCliHome(t);
  const to = await openCliHome(t);
  const file = await makeArchive(from, {
    config: '[bot]\ndata_dir = "$WHERE"\n',
    members: {
      'config/.env': 'WHERE=there\n',
      'data/audit.key': 'key',
      'workspace/skills/own/run.sh': '#!/bin/sh\n',
    },
    mode: 0o4777,
  });
  const { code, stderr } = await to.run(['restore', file, '--to', 'bot'], { env: { WHERE: 'here' } });
  assert.equal(code, 0, stderr);
  for (const name of ['here/audit.key', 'workspace/skills/own/run.sh', '.env']) {
    const { mode, mtimeMs } = await stat(path.join(to.folder, 'bot', name));
    assert.deepEqual([mode & 0o7777, mtimeMs], [0o755, 1_000], name);
  }
  const closed = await stat(path.join(to.folder, 'bot/here'));
  assert.equal(closed.mode & 0o077, 0);
});

test('L16 restore puts no store beside a journal of another one', async (t) => {
  const from = await openCliHome(t);
  const bytes = await storeBytes(t);
  const members = { 'store.db': bytes };
  const file = await makeArchive(from, { config: '', store: 'copied', members });
  for (const end of ['-wal', '-journal', '-shm']) {
    const to = await openCliHome(t);
    await mkdir(path.join(to.folder, 'bot/data'), { recursive: true });
    await to.write(`bot/data/skillet.db${end}`, 'of another store');
    const before = await names(to.folder);
    const { code, stderr } = await to.run(['restore', file, '--to', 'bot']);
    assert.equal(code, 1, end);
    assert.match(stderr, /this is there already: \S+skillet\.db/);
    assert.deepEqual(await names(to.folder), before);
    const alone = await to.run(['restore', file, '--store-only', '--yes', '--config', 'bot/config.toml']);
    assert.equal(alone.code, 1);
    await to.write('bot/config.toml', '');
    const store = await to.run(['restore', file, '--store-only', '--yes', '--config', 'bot/config.toml']);
    assert.equal(store.code, 0, store.stderr);
    const left = await readdir(path.join(to.folder, 'bot/data'));
    assert.ok(!left.includes(`skillet.db${end}`), left.join());
    assert.ok(
      left.some((name) => name.includes('.before-') && name.endsWith(end)),
      left.join(),
    );
  }
});

test('L16 restore --store-only leaves no draft and no journal, after a refusal neither', async (t) => {
  const home = await openCliHome(t);
  await home.write('config.toml', '');
  const bytes = await storeBytes(t);
  const damaged = Buffer.from(bytes);
  damaged.fill(0xff, 8_192);
  await writeFile(path.join(home.folder, 'damaged.db'), damaged);
  await writeFile(path.join(home.folder, 'copy.db'), bytes);
  const refused = await home.run(['restore', 'damaged.db', '--yes']);
  assert.equal(refused.code, 1);
  const done = await home.run(['restore', 'copy.db', '--yes']);
  assert.equal(done.code, 0, done.stderr);
  assert.equal((await stat(path.join(home.folder, 'data/skillet.db'))).mode & 0o777, 0o600);
  const left = await names(home.folder);
  assert.deepEqual(
    left.filter((name) => /\.db./.test(name) && !name.endsWith('.lock')),
    [],
  );
});

test('L16 what restore put in place before a failure is taken back, and what was there stays', async (t) => {
  const from = await openCliHome(t);
  const to = await openCliHome(t);
  await mkdir(path.join(to.folder, 'bot/data'), { recursive: true });
  await to.write('bot/data/notes', 'mine');
  const before = await names(to.folder);
  // The skills' place is empty when it is looked at, and holds the bot's own skills when their turn comes.
  const file = await makeArchive(from, {
    config: '[skills]\nuser_dir = "workspace"',
    store: 'copied',
    members: {
      'data/audit.key': 'key',
      'store.db': await storeBytes(t),
      'workspace/skills/own/SKILL.md': 'own',
      'user-skills/mine/SKILL.md': 'mine',
    },
  });
  const { code, stderr } = await to.run(['restore', file, '--to', 'bot']);
  assert.equal(code, 1);
  assert.match(stderr, /Nothing was restored: \S+workspace came to be meanwhile/);
  assert.deepEqual(await names(to.folder), before);
});

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { OperatorError } from '../../src/core/errors.ts';
import { restoreArchive, unpackStore } from '../../src/operator/archive/restore-archive.ts';
import { damagedStore, madeHead, storeBytes, type MadeArchive } from '../support/make-archive.ts';
import { refused, stageRestore } from '../support/stage-restore.ts';

const whole = await storeBytes();

test('L16 each part of an archive comes to its place, and the result tells which', async (t) => {
  const { at, make, names } = stageRestore(t);
  const file = await make({
    config: '[skills]\nuser_dir = "mine"\n',
    store: 'copied',
    members: {
      'config/access.tests.toml': '# tests',
      'config/.env': 'A=1\n',
      'data/audit.key': 'key',
      'data/capabilities.key': 'key of capabilities',
      'data/audit/2026-01-01.jsonl': 'line\n',
      'data/skills.lock.toml': '# lock',
      'data/installed/hash/tides/SKILL.md': 'tides',
      'workspace/skills/own/SKILL.md': 'own',
      'workspace/skills/own/deep/er/run.sh': 'run',
      'user-skills/ours/SKILL.md': 'ours',
      'workspace/chats/telegram-1/Grüße an alle.txt': 'hello',
      'workspace/received/telegram-1/file': 'picture',
      'workspace/outgoing/id': '',
      'store.db': whole,
    },
  });
  const around = { env: {}, home: at('home'), elsewhere: () => assert.fail('no place is outside') };
  const done = await restoreArchive(file, at('bot'), around);
  const bot = (name: string) => at('bot', name);
  assert.deepEqual(done, {
    head: { ...madeHead, store: 'copied' },
    config: bot('config.toml'),
    restored: [
      { group: 'config', name: 'config/config.toml', at: bot('config.toml') },
      { group: 'config', name: 'config/access.tests.toml', at: bot('access.tests.toml') },
      { group: 'secrets', name: 'config/.env', at: bot('.env') },
      { group: 'keys', name: 'data/audit.key', at: bot('data/audit.key') },
      { group: 'keys', name: 'data/capabilities.key', at: bot('data/capabilities.key') },
      { group: 'audit', name: 'data/audit', at: bot('data/audit') },
      { group: 'skills', name: 'data/skills.lock.toml', at: bot('data/skills.lock.toml') },
      { group: 'skills', name: 'data/installed', at: bot('data/installed') },
      { group: 'skills', name: 'workspace/skills', at: bot('workspace/skills') },
      { group: 'skills', name: 'user-skills', at: bot('mine') },
      { group: 'files', name: 'workspace/chats', at: bot('workspace/chats') },
      { group: 'files', name: 'workspace/received', at: bot('workspace/received') },
      { group: 'files', name: 'workspace/outgoing', at: bot('workspace/outgoing') },
      { group: 'store', name: 'store.db', at: bot('data/skillet.db') },
    ],
    kept: [],
  });
  const texts = names()
    .filter((name) => statSync(at(name)).isFile() && !name.endsWith('.db'))
    .map((name) => [name, readFileSync(at(name), 'utf8')]);
  assert.deepEqual(texts, [
    ['bot/.env', 'A=1\n'],
    ['bot/access.tests.toml', '# tests'],
    ['bot/config.toml', '[skills]\nuser_dir = "mine"\n'],
    ['bot/data/audit.key', 'key'],
    ['bot/data/audit/2026-01-01.jsonl', 'line\n'],
    ['bot/data/capabilities.key', 'key of capabilities'],
    ['bot/data/installed/hash/tides/SKILL.md', 'tides'],
    ['bot/data/skills.lock.toml', '# lock'],
    ['bot/mine/ours/SKILL.md', 'ours'],
    ['bot/workspace/chats/telegram-1/Grüße an alle.txt', 'hello'],
    ['bot/workspace/outgoing/id', ''],
    ['bot/workspace/received/telegram-1/file', 'picture'],
    ['bot/workspace/skills/own/SKILL.md', 'own'],
    ['bot/workspace/skills/own/deep/er/run.sh', 'run'],
  ]);
  assert.ok(readFileSync(bot('data/skillet.db')).equals(whole));
  for (const name of names().filter((each) => statSync(at(each)).isDirectory()))
    assert.equal(statSync(at(name)).mode & 0o777, 0o700, name);
});

test('L16 S18 what is restored only its owner may write, with its time, where the variables of this machine say', async (t) => {
  const { at, restore } = stageRestore(t);
  const members = {
    'config/.env': 'WHERE=there\nFILES=files\n',
    'data/audit.key': 'key',
    'workspace/skills/own/run.sh': '#!/bin/sh\n',
  };
  const config = '[bot]\ndata_dir = "$WHERE"\nworkspace = "$FILES"\n';
  await restore({ config, members, mode: 0o4777 }, { WHERE: 'here' });
  for (const name of ['here/audit.key', 'files/skills/own/run.sh', '.env']) {
    const { mode, mtimeMs } = statSync(at('bot', name));
    assert.deepEqual([mode & 0o7777, mtimeMs], [0o755, 1_000], name);
  }
  assert.equal(statSync(at('bot/here')).mode & 0o077, 0);
});

test('L16 an archive without a config is one of a bot with defaults', async (t) => {
  const { at, restore } = stageRestore(t);
  const members = { 'data/audit.key': 'key' };
  const done = await restore({ head: { config: null }, members });
  assert.deepEqual(
    [done.config, done.restored.map((one) => one.at)],
    [undefined, [at('bot/data/audit.key')]],
  );
  await refused(restore({ head: { config: null }, config: '' }), /what config\/config\.toml in the archive/);
  const other = await restore({
    head: { config: 'b.toml' },
    members: { 'config/b.toml': '', 'config/.env': '' },
  });
  assert.deepEqual(
    [other.config, ...other.restored.map((one) => one.at)],
    [at('bot/b.toml'), at('bot/b.toml'), at('bot/.env')],
  );
});

test('L16 variables that the config needs for its places are needed, and no others', async (t) => {
  for (const [config, store, key] of [
    ['[bot]\ndata_dir = "$NONE"', 'none', 'bot.data_dir'],
    ['[bot]\nworkspace = "$NONE"', 'none', 'bot.workspace'],
    ['[skills]\nuser_dir = "$NONE"', 'none', 'skills.user_dir'],
    ['[capabilities]\nkey_file = "$NONE"', 'none', 'capabilities.key_file'],
    ['[store]\nurl = "$NONE"', 'copied', 'store.url'],
    ['[store]\nurl = "$NONE"', 'postgres', undefined],
    ['[telegram]\ntoken = "$NONE"', 'copied', undefined],
  ] as const) {
    const { names, restore } = stageRestore(t);
    const members: MadeArchive['members'] = store === 'copied' ? { 'store.db': whole } : {};
    const restoring = restore({ config, store, members });
    if (key === undefined) await restoring;
    else {
      await refused(restoring, new RegExp(`\\n\\S+config\\.toml:2:\\d+: ${key} is "\\$NONE"`), config);
      assert.deepEqual(names(), []);
    }
  }
});

test('L16 S18 members that no part of a bot has are refused, and none of their names writes to the terminal', async (t) => {
  const { names, restore } = stageRestore(t);
  for (const [name, told = name] of [
    ['data/later.bin'],
    ['store.db/x'],
    ['config/other.toml'],
    ['readme'],
    ['data/audit'],
    ['data/audit.key/x'],
    ['user-skills2/x'],
    ['data/\u001b[2J\nRestored.', 'data/ [2J Restored.'],
  ] as const) {
    const why = `this version does not know what ${told.replace(/[[.]/g, '\\$&')} in the archive is\\.$`;
    await refused(restore({ config: '', members: { [name]: 'x' } }), new RegExp(why), name);
    assert.deepEqual(names(), []);
  }
});

test('L16 restore checks the copy of the store, and leaves nothing of its drafts', async (t) => {
  const { at, names, restore } = stageRestore(t);
  for (const [bytes, why] of [
    [damagedStore(whole), /damaged|malformed|can't be restored/],
    [Buffer.from('no database'), /can't be restored/],
    [Buffer.alloc(0), /no backup of a store/],
  ] as const) {
    const members = { 'data/audit.key': 'key', 'data/installed/x/y': 'z', 'store.db': bytes };
    await refused(restore({ config: '', store: 'copied', members }), why);
    assert.deepEqual(names(), []);
  }
  const config = '[store]\nurl = "postgres://127.0.0.1/db"';
  await refused(restore({ config, store: 'copied', members: { 'store.db': whole } }), /names another one/);
  await refused(restore({ config, members: { 'store.db': whole } }), /what store\.db in the archive is/);
  assert.deepEqual(names(), []);
  await restore({ config: '', store: 'copied', members: { 'store.db': whole } });
  assert.deepEqual(names(), ['bot', 'bot/config.toml', 'bot/data', 'bot/data/skillet.db']);
  assert.ok(readFileSync(at('bot/data/skillet.db')).equals(whole));
});

test('L16 restore overwrites nothing, and an empty folder in a place is nothing', async (t) => {
  const made: MadeArchive = {
    config: '[skills]\nuser_dir = "mine"\n',
    store: 'copied',
    members: { 'data/installed/x/SKILL.md': 'x', 'user-skills/y/SKILL.md': 'y', 'store.db': whole },
  };
  for (const [there, taken] of [
    [{ 'bot/config.toml': '' }, ['config.toml']],
    [{ 'bot/config.toml': '→nowhere' }, ['config.toml']],
    [{ 'bot/data/installed': 'a file' }, ['data/installed']],
    [{ 'bot/data/installed/z': '', 'bot/data/skillet.db': '' }, ['data/installed', 'data/skillet.db']],
    [{ 'bot/data/skillet.db-wal': '' }, ['data/skillet.db']],
    [{ 'bot/data/skillet.db-journal': '' }, ['data/skillet.db']],
    [{ 'bot/data/skillet.db-shm': '' }, ['data/skillet.db']],
  ] as const) {
    const { at, names, write, restore } = stageRestore(t);
    write(there);
    const before = names();
    await assert.rejects(restore(made), (error) => {
      assert.ok(error instanceof OperatorError);
      const list = taken.map((name) => at('bot', name)).join(', ');
      assert.ok(error.message.includes(`this is there already: ${list}. Move it away`), error.message);
      return true;
    });
    assert.deepEqual(names(), before);
  }
  const { at, write, restore } = stageRestore(t);
  write({ 'bot/data/installed/': '', 'bot/mine/own': 'mine' });
  const { kept, restored } = await restore(made);
  assert.deepEqual(kept, [{ group: 'skills', name: 'user-skills', at: at('bot/mine') }]);
  assert.deepEqual(
    restored.map(({ name }) => name),
    ['config/config.toml', 'data/installed', 'store.db'],
  );
  assert.deepEqual(readdirSync(at('bot/mine')), ['own']);
  assert.equal(readFileSync(at('bot/data/installed/x/SKILL.md'), 'utf8'), 'x');
});

test('L16 what restore put in place before a failure is taken back, and what was there stays', async (t) => {
  const own = { 'workspace/skills/own/SKILL.md': 'own', 'data/audit.key': 'key' };
  const cases: readonly (readonly [string, Record<string, string>, MadeArchive, RegExp])[] = [
    [
      'a place that another part of the archive fills',
      { 'bot/data/notes': 'mine' },
      { config: '[skills]\nuser_dir = "workspace"', members: { ...own, 'user-skills/x/y': 'mine' } },
      /\S+workspace came to be meanwhile/,
    ],
    [
      'a file where the folder of the store has to be',
      { 'bot/blocked': 'a file' },
      {
        config: '[store]\nurl = "sqlite:blocked/s.db"',
        store: 'copied',
        members: { ...own, 'store.db': whole },
      },
      /blocked/,
    ],
    [
      'a file where a folder above has to be',
      { 'bot/blocked': 'a file' },
      { config: '[bot]\ndata_dir = "blocked/deep"', members: own },
      /blocked/,
    ],
    [
      'a link to an empty folder in the place of one',
      { 'bot/empty/': '', 'bot/workspace/skills': '→../empty' },
      { config: '', members: own },
      /ENOTDIR|EEXIST/,
    ],
    ['a link to itself', { 'bot/data': '→data' }, { config: '', members: own }, /ELOOP/],
    [
      'a name without end',
      {},
      { config: `[bot]\ndata_dir = "${'a'.repeat(300)}"`, members: own },
      /ENAMETOOLONG/,
    ],
    [
      'an empty folder in the place of a file',
      { 'bot/data/audit.key/': '' },
      { config: '', members: own },
      /EISDIR|EEXIST/,
    ],
  ];
  for (const [what, there, made, why] of cases) {
    const { names, write, restore } = stageRestore(t);
    write(there);
    const before = names();
    await refused(restore(made), why, what);
    assert.deepEqual(names(), before, what);
  }
});

test('L16 what comes into a place while restore writes its drafts stays there, and all else is taken back', async (t) => {
  const { at, names, restore } = stageRestore(t);
  const members = { 'data/audit.key': 'key', 'data/audit/x.jsonl': 'line', 'workspace/chats/a/b': 'c' };
  const restoring = refused(restore({ config: '', members }), /audit\.key came to be meanwhile/);
  while (!existsSync(at('bot/data'))) await setImmediate();
  writeFileSync(at('bot/data/audit.key'), 'of another');
  await restoring;
  assert.deepEqual(names(), ['bot', 'bot/data', 'bot/data/audit.key']);
  assert.equal(readFileSync(at('bot/data/audit.key'), 'utf8'), 'of another');
});

test('L16 Q10 the store alone is written to a new file of its owner', async (t) => {
  const { at, make, names } = stageRestore(t);
  const file = await make({ config: '', store: 'copied', members: { 'store.db': whole } });
  await unpackStore(file, at('deep/copy.db'));
  assert.ok(readFileSync(at('deep/copy.db')).equals(whole));
  assert.equal(statSync(at('deep/copy.db')).mode & 0o777, 0o600);
  await assert.rejects(unpackStore(file, at('deep/copy.db')), { code: 'EEXIST' });
  await assert.rejects(unpackStore(await make({ config: '' }), at('other.db')), (error) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, /one\.tar holds no copy of a store/);
    return true;
  });
  assert.deepEqual(names(), ['deep', 'deep/copy.db']);
});

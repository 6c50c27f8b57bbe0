import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import {
  damagedStore,
  makeArchive as archiveAt,
  storeBytes,
  type MadeArchive,
} from '../support/make-archive.ts';
import { openCliHome, type CliHome } from '../support/run-cli.ts';

const makeArchive = ({ folder }: CliHome, made: MadeArchive) =>
  archiveAt(path.join(folder, 'made.tar'), made);

async function names(folder: string): Promise<readonly string[]> {
  return (await readdir(folder, { recursive: true })).toSorted();
}

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

test('S18 an archive does not write to the terminal with what it says', async (t) => {
  const from = await openCliHome(t);
  const [odd, written] = ['\u001b[2J\nRestored.', '\\u001b[2J\\nRestored.'];
  const cases: readonly MadeArchive[] = [
    { config: `[skills]\nuser_dir = "/tmp/a${written}"`, members: { 'user-skills/x': 'x' } },
    { config: `[bot]\ndata_dir = "a${written}"`, members: { 'data/audit.key': 'x' } },
    { config: `"a${written}" = 1` },
    { config: `[bot]\n"a${written}" = 1` },
    { config: `[log]\nlevel = "a${written}"` },
    { config: `[bot]\ndata_dir = "$${written}"` },
    { config: `[bot]\ndata_dir = ${odd}` },
    { config: '', members: { [`data/${odd}`]: 'x' } },
    { config: '', members: { [`workspace/chats/${'a'.repeat(300)}${odd}`]: 'x' } },
    { config: '', head: { skillet: odd } },
    { config: '', head: { skillet: odd, format: 2 } },
    { config: '', head: { config: odd } },
  ];
  for (const made of cases) {
    const file = await makeArchive(from, made);
    const { code, stdout, stderr } = await from.run(['restore', file, '--to', 'bot', '--elsewhere']);
    assert.deepEqual([code, stdout], [1, ''], JSON.stringify(made));
    assert.ok(!stderr.includes('\u001b') && !stderr.includes('\nRestored.'), stderr);
  }
});

test('L16 restore puts no store beside a journal of another one', async (t) => {
  const from = await openCliHome(t);
  const bytes = await storeBytes();
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
  const bytes = await storeBytes();
  await writeFile(path.join(home.folder, 'damaged.db'), damagedStore(bytes));
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

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { OperatorError } from '../../src/core/errors.ts';
import { openArchive, type OpenArchive } from '../../src/operator/archive/read-archive.ts';
import { madeHead, makeArchive, type MadeArchive } from '../support/make-archive.ts';

const longest = 4_000_000;
const piece = 1_048_576;

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-archive-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function piecesOf(archive: OpenArchive, name: string): Promise<readonly Buffer[]> {
  const member = archive.members.find((one) => one.name === name);
  assert.ok(member !== undefined);
  const pieces: Buffer[] = [];
  for await (const one of archive.pieces(member)) pieces.push(one);
  return pieces;
}

test('L16 S18 what an archive says of itself is read up to 4 MB, so that a made-up one fills no memory', async (t) => {
  const folder = folderOf(t);
  const make = (name: string, headLength: number, textLength: number) =>
    makeArchive(path.join(folder, name), {
      first: JSON.stringify(madeHead).padEnd(headLength),
      config: ''.padEnd(textLength),
    });
  const whole = await openArchive(await make('whole.tar', longest, longest));
  t.after(whole.close);
  assert.equal(whole.head.skillet, '1.0.0');
  assert.equal((await whole.text('config/config.toml'))?.length, longest);
  const long = await openArchive(await make('long.tar', 0, longest + 1));
  t.after(long.close);
  await assert.rejects(long.text('config/config.toml'), /config\/config\.toml is too long/);
  await assert.rejects(
    openArchive(await make('head.tar', longest + 1, 0)),
    (error) =>
      error instanceof OperatorError && /backup\.json is too long\. Nothing was written/.test(error.message),
  );
});

test('L16 a whole archive is read member by member, in pieces, with what it says of itself', async (t) => {
  const big = Buffer.alloc(2 * piece + 7, 'abc');
  const file = await makeArchive(path.join(folderOf(t), 'one.tar'), {
    config: '# größer',
    members: {
      'data/audit.key': '',
      'workspace/chats/big': big,
      'workspace/chats/exact': big.subarray(0, piece),
    },
  });
  const archive = await openArchive(file);
  assert.deepEqual(archive.head, madeHead);
  assert.deepEqual(
    archive.members.map(({ name, size, mode, mtimeMs }) => [name, size, mode, mtimeMs]),
    [
      ['config/config.toml', 10, 0o600, 1_000],
      ['data/audit.key', 0, 0o600, 1_000],
      ['workspace/chats/big', big.length, 0o600, 1_000],
      ['workspace/chats/exact', piece, 0o600, 1_000],
    ],
  );
  assert.equal(await archive.text('config/config.toml'), '# größer');
  assert.equal(await archive.text('data/audit.key'), '');
  assert.equal(await archive.text('config/.env'), undefined);
  assert.deepEqual(JSON.parse((await archive.text('backup.json')) ?? ''), madeHead);
  assert.deepEqual(await piecesOf(archive, 'data/audit.key'), []);
  const pieces = await piecesOf(archive, 'workspace/chats/big');
  assert.deepEqual(
    pieces.map(({ length }) => length),
    [piece, piece, 7],
  );
  assert.ok(Buffer.concat(pieces).equals(big));
  assert.equal((await piecesOf(archive, 'workspace/chats/exact')).length, 1);
  const [, , member] = archive.members;
  await truncate(file, member!.at + piece + 5);
  await assert.rejects(piecesOf(archive, 'workspace/chats/big'), /it is cut off/);
  await archive.close();
  await assert.rejects(archive.text('config/config.toml'));
});

test('L16 what the head of an archive says is checked, and a newer form is told from a damaged one', async (t) => {
  const file = path.join(folderOf(t), 'one.tar');
  const known: readonly object[] = [
    ...[{}, { config: null }, { config: '.env' }, { config: '...' }, { config: 'a b' }],
    ...[{ store: 'copied' }, { store: 'postgres' }, { at: '2026-11-28T00:00:00.123Z' }],
  ];
  for (const head of known) {
    const archive = await openArchive(await makeArchive(file, { head }));
    await archive.close();
    assert.deepEqual(archive.head, { ...madeHead, ...head });
  }
  const damaged = /one\.tar can't be restored: its backup\.json is damaged\. Nothing was written\./;
  const newer = /Skillet 9\.1 made it, in a form that this version does not know\. Update Skillet\. Nothing/;
  const cases: readonly (readonly [MadeArchive, RegExp])[] = [
    ...['.', '..', '', 'a/b', '/etc', 1].map((config) => [{ head: { config } }, damaged] as const),
    [{ head: { store: 'other' } }, damaged],
    [{ head: { at: 'yesterday' } }, damaged],
    [{ head: { skillet: 1 } }, damaged],
    [{ head: { format: 2, skillet: 9 } }, damaged],
    [{ head: { format: '2' } }, damaged],
    [{ first: '{' }, damaged],
    [{ first: 'null' }, damaged],
    [{ head: { format: 2, skillet: '9.1' } }, newer],
    [{ first: '{"format":0,"skillet":"9.1"}' }, newer],
  ];
  for (const [made, why] of cases)
    await assert.rejects(openArchive(await makeArchive(file, made)), (error) => {
      assert.ok(error instanceof OperatorError);
      assert.match(error.message, why);
      assert.ok(error.cause instanceof Error);
      return true;
    });
});

test('L16 a cut, damaged or foreign archive is refused before anything of it is used', async (t) => {
  const folder = folderOf(t);
  const at = (name: string) => path.join(folder, name);
  const whole = await readFile(await makeArchive(at('one.tar'), { config: '# mine', members: { x: 'x' } }));
  const end = whole.indexOf('end.json');
  const zeros = Buffer.alloc(1_024);
  const changed = Buffer.from(whole);
  changed.write('# your', whole.indexOf('# mine'));
  const noHead = (await readFile(await makeArchive(at('other.tar'), { members: { y: 'y' } }))).subarray(
    1_024,
  );
  const behind = Buffer.concat([whole.subarray(0, -1_024), noHead.subarray(0, 1_024), zeros]);
  for (const [what, bytes, why] of [
    ['nothing', Buffer.alloc(0), /it is cut off/],
    ['no member', zeros, /it is no backup of Skillet/],
    ['no archive', Buffer.from('nothing like an archive. '.repeat(100)), /it is damaged at byte 0/],
    ['another first member', noHead, /it is no backup of Skillet/],
    ['a head alone', Buffer.concat([whole.subarray(0, 1_024), zeros]), /it is cut off/],
    ['a cut between members', Buffer.concat([whole.subarray(0, end), zeros]), /it is cut off/],
    ['a cut in a member', whole.subarray(0, 1_800), /it is cut off/],
    ['a change', changed, /it is damaged: its checksum is another one/],
    ['a member behind the end', behind, /it is cut off/],
  ] as const) {
    await writeFile(at('bad.tar'), bytes);
    await assert.rejects(openArchive(at('bad.tar')), (error) => {
      assert.ok(error instanceof OperatorError, what);
      assert.match(error.message, new RegExp(`^\\S+bad\\.tar can't be restored: (${why.source})`), what);
      return true;
    });
  }
  for (const text of ['', '{', '{}', 'null', '{"sha256":1}', '{"sha256":""}'])
    await assert.rejects(openArchive(await makeArchive(at('bad.tar'), { end: text })), /its checksum/, text);
});

test('S18 a name that steers a terminal does not reach it, though the archive is no good', async (t) => {
  const file = await makeArchive(path.join(folderOf(t), 'one.tar'), {
    members: { 'x\u009b2J': '', 'y\u009b2J': '' },
  });
  const bytes = await readFile(file);
  bytes.write('x', bytes.indexOf('y\u009b2J'));
  await writeFile(file, bytes);
  await assert.rejects(
    openArchive(file),
    /one\.tar can't be restored: "x 2J" is in it twice\. Nothing was written/,
  );
});

test('L16 where no file is, restore says so', async (t) => {
  const folder = folderOf(t);
  const at = (name: string) => path.join(folder, name);
  await writeFile(at('file'), '');
  for (const name of ['none.tar', 'file/none.tar'])
    await assert.rejects(openArchive(at(name)), (error) => {
      assert.ok(error instanceof OperatorError);
      assert.equal(error.message, `There is no ${at(name)}.`);
      return true;
    });
  symlinkSync('loop', at('loop'));
  await assert.rejects(openArchive(at('loop')), { code: 'ELOOP' });
  await assert.rejects(openArchive(folder), /can't be restored: EISDIR/);
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { auditFiles, auditPlace, lastLine, lostStore, openAuditKey } from '../../src/audit/audit-files.ts';

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-audit-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('L6 the place of an audit is its host and path, and nothing beside an embedded store', () => {
  for (const [url, dataDir, place] of [
    ['sqlite:/data/skillet.db', '/data', ''],
    ['sqlite::memory:', '/data', ''],
    ['postgres://db/skillet', '/data/../data', `${hostname()}:/data`],
    ['postgres://db/sqlite:', 'data', `${hostname()}:${path.resolve('data')}`],
  ] as const)
    assert.equal(auditPlace(url, dataDir), place, url);
});

test('L6 a key is 32 bytes in hexadecimal that stay, and anything else is refused', async (t) => {
  const dataDir = folderOf(t);
  const file = path.join(dataDir, 'audit.key');
  const made = await openAuditKey(dataDir);
  assert.deepEqual(await openAuditKey(dataDir), made);
  assert.equal(await readFile(file, 'utf8'), `${made.key.toString('hex')}\n`);
  assert.equal((await stat(path.join(dataDir, 'audit'))).mode & 0o777, 0o700);
  const key = Buffer.alloc(32, 0xa7);
  const chain = createHash('sha256').update(key).digest('hex').slice(0, 16);
  for (const text of [key.toString('hex'), ` ${key.toString('hex')}\n\n`]) {
    await writeFile(file, text);
    assert.deepEqual(await openAuditKey(dataDir), { key, chain });
  }
  for (const text of ['', 'key', 'a7'.repeat(31), `${'a7'.repeat(32)}a`, 'A7'.repeat(32), 'g7'.repeat(32)]) {
    await writeFile(file, text);
    await assert.rejects(openAuditKey(dataDir), /audit\.key holds no key/, text);
    assert.equal(await readFile(file, 'utf8'), text);
  }
});

test('L6 files of an audit are its days in order, and nothing else that lies there', async (t) => {
  const dataDir = folderOf(t);
  const folder = path.join(dataDir, 'audit');
  assert.deepEqual(await auditFiles(dataDir), []);
  await mkdir(folder);
  const days = Array.from({ length: 28 }, (_, n) => `2026-02-${String(n + 1).padStart(2, '0')}.jsonl`);
  const others = ['2026-02-1.jsonl', 'x2026-02-01.jsonl', '2026-02-01.jsonl.gz', '2026-02-01', 'notes'];
  for (const name of [...days.slice(9), ...others, ...days.slice(0, 9)])
    await writeFile(path.join(folder, name), '');
  assert.deepEqual(
    await auditFiles(dataDir),
    days.map((name) => path.join(folder, name)),
  );
  await assert.rejects(auditFiles(path.join(folder, 'notes')), { code: 'ENOTDIR' });
});

test('L6 Q11 only lines of an audit tell that its store is lost', async (t) => {
  const dataDir = folderOf(t);
  assert.equal(await lostStore(dataDir), undefined);
  await mkdir(path.join(dataDir, 'audit'));
  const write = (name: string, text: string) => writeFile(path.join(dataDir, 'audit', name), text);
  await write('2026-01-01.jsonl', '');
  await write('notes', 'mine');
  assert.equal(await lostStore(dataDir), undefined);
  await write('2026-01-02.jsonl', '\n');
  assert.match((await lostStore(dataDir)) ?? '', /the store is empty.* restore FILE --store-only/);
});

test('L6 Q7 the last whole line is read at any length, and what follows it is cut off', async (t) => {
  const file = path.join(folderOf(t), '2026-01-01.jsonl');
  const long = 'é'.repeat(70_000);
  for (const [whole, end, line] of [
    ['', '', undefined],
    ['', 'cut', undefined],
    ['\n', '', ''],
    ['\n', 'cut', ''],
    ['one\n', '', 'one'],
    ['one\n\n', '', ''],
    ['\none\n', 'c', 'one'],
    ['one\ntwo\n', '', 'two'],
    [`one\n${long}\n`, `${long}cut`, long],
  ] as const) {
    await writeFile(file, whole + end);
    assert.equal(await lastLine(file), line, JSON.stringify(whole + end).slice(0, 20));
    assert.equal(await readFile(file, 'utf8'), whole);
  }
  await assert.rejects(lastLine(`${file}.none`), { code: 'ENOENT' });
});

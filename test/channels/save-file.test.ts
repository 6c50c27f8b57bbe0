import assert from 'node:assert/strict';
import { mkdtemp, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { saveFile } from '../../src/channels/save-file.ts';
import { FetchFileError } from '../../src/core/errors.ts';

async function* body(...chunks: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

test('M12 a file is saved as it comes, for the bot alone, and never in the place of another', async () => {
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'saved-')), 'file');
  assert.equal(await saveFile(body('abc', 'def'), { path: file, maxBytes: 6 }), 6);
  assert.equal(await readFile(file, 'utf8'), 'abcdef');
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  await assert.rejects(saveFile(body('x'), { path: file, maxBytes: 6 }), { code: 'EEXIST' });
});

test('M12 nothing is read beyond the largest size', async () => {
  const file = path.join(await mkdtemp(path.join(tmpdir(), 'saved-')), 'file');
  await assert.rejects(saveFile(body('abc', 'def', 'ghi'), { path: file, maxBytes: 5 }), FetchFileError);
  assert.equal(await readFile(file, 'utf8'), 'abc');
});

import assert from 'node:assert/strict';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { OperatorError } from '../../src/core/errors.ts';
import { createTarWriter } from '../../src/lib/files/tar.ts';
import { openArchive } from '../../src/operator/archive/read-archive.ts';

const head = {
  ...{ format: 1, skillet: '1.0.0', at: '2026-11-28T00:00:00Z', config: 'config.toml', store: 'none' },
};
const longest = 4_000_000;

test('L16 S18 what an archive says of itself is read up to 4 MB, so that a made-up one fills no memory', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-archive-'));
  t.after(() => rm(folder, { recursive: true }));
  async function make(headLength: number, textLength: number): Promise<string> {
    const file = path.join(folder, `${headLength}-${textLength}.tar`);
    const handle = await open(file, 'w');
    const tar = createTarWriter(handle);
    for (const [name, text] of [
      ['backup.json', JSON.stringify(head).padEnd(headLength)],
      ['config/config.toml', ''.padEnd(textLength)],
      ['end.json', ''],
    ] as const) {
      const bytes = Buffer.from(name === 'end.json' ? JSON.stringify({ sha256: tar.sha256() }) : text);
      await tar.add({ name, size: bytes.length, mode: 0o600, mtimeMs: 1_000 }, [bytes]);
    }
    await tar.end();
    await handle.close();
    return file;
  }
  const whole = await openArchive(await make(longest, longest));
  t.after(whole.close);
  assert.equal(whole.head.skillet, '1.0.0');
  assert.equal((await whole.text('config/config.toml'))?.length, longest);
  const long = await openArchive(await make(0, longest + 1));
  t.after(long.close);
  await assert.rejects(long.text('config/config.toml'), /config\/config\.toml is too long/);
  await assert.rejects(
    openArchive(await make(longest + 1, 0)),
    (error) =>
      error instanceof OperatorError && /backup\.json is too long\. Nothing was written/.test(error.message),
  );
});

import assert from 'node:assert/strict';
import { chmod, chown, mkdir, mkdtemp, rm, symlink, writeFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { compileCacheFolder } from '../../src/cli/compile-cache.js';
import { ownDataDir } from '../../src/app/own-data-dir.ts';
import { changeableByOthers } from '../../src/files/changeable-by-others.js';
import { findPlugin } from '../../src/tools/plugins/find-plugin.ts';

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-others-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('S10 what others could change, or replace, is told with the fix', async (t) => {
  const folder = await makeFolder(t);
  const file = path.join(folder, 'plugin.ts');
  await writeFile(file, 'export default {}', { mode: 0o644 });
  assert.equal(changeableByOthers(file), undefined);
  await chmod(file, 0o664);
  assert.match(
    changeableByOthers(file) ?? '',
    /plugin\.ts can be written by its group or by others: chmod go-w it$/,
  );
  await chmod(file, 0o644);
  await chmod(folder, 0o777);
  assert.match(changeableByOthers(file) ?? '', /skillet-others-\w+ can be written by/);
  await chmod(folder, 0o1777);
  assert.equal(
    changeableByOthers(file),
    undefined,
    'in a folder such as /tmp nobody moves what is not theirs',
  );
  const link = path.join(await makeFolder(t), 'link');
  await symlink(file, link);
  await chmod(folder, 0o777);
  assert.match(changeableByOthers(link) ?? '', /can be written by/);
  await chmod(folder, 0o755);
  assert.match(changeableByOthers(file, 4_242) ?? '', process.getuid?.() === 0 ? /^$/ : /belongs to user/);
});

test('S10 what belongs to somebody else is told', { skip: process.getuid?.() !== 0 }, async (t) => {
  const folder = await makeFolder(t);
  await chown(folder, 65_534, 65_534);
  assert.match(changeableByOthers(folder) ?? '', /belongs to user 65534: chown it to user 0$/);
});

test('S10 compiled code is kept only where this user alone can write', async (t) => {
  const home = await makeFolder(t);
  const theirs = path.join(home, 'theirs');
  const ours = path.join(home, 'ours/deep');
  await mkdir(path.join(theirs, 'cache'), { recursive: true });
  await chmod(theirs, 0o777);
  const linked = path.join(home, 'linked');
  await symlink(theirs, linked);
  assert.equal(compileCacheFolder([path.join(theirs, 'cache'), linked, path.join(theirs, 'new')]), undefined);
  assert.equal(compileCacheFolder([path.join(theirs, 'cache'), ours]), ours);
});

test('S10 a plugin that others could change is refused', async (t) => {
  const folder = await makeFolder(t);
  await writeFile(path.join(folder, 'plugin.ts'), 'export default {}', { mode: 0o644 });
  assert.equal(findPlugin({ path: folder }, undefined).ok, true);
  await chmod(folder, 0o775);
  const found = findPlugin({ path: folder }, undefined);
  assert.match(found.ok ? '' : found.message, /others could change what it runs: .* chmod go-w it/);
});

test('S10 a data directory that others could change is refused', async (t) => {
  const folder = await makeFolder(t);
  ownDataDir(folder).release();
  await chmod(folder, 0o777);
  assert.throws(() => ownDataDir(folder), /can't be used as the data directory: .* chmod go-w it\.$/);
});

test('S4 a data directory that others may look into is closed to them', async (t) => {
  const folder = await makeFolder(t);
  await chmod(folder, 0o755);
  ownDataDir(folder).release();
  assert.equal((await stat(folder)).mode & 0o777, 0o700);
});

import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { isHiddenEntry, placeEntries } from '../../src/sandbox/own-entries.ts';

async function open(t: TestContext) {
  const root = await mkdtemp(path.join(tmpdir(), 'skillet-own-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  const [skillDirectory, scratch] = [path.join(root, 'skill'), path.join(root, 'scratch')];
  await mkdir(path.join(skillDirectory, 'scripts'), { recursive: true });
  await mkdir(scratch);
  await writeFile(path.join(skillDirectory, 'scripts/make.sh'), 'echo MADE\n', { mode: 0o755 });
  await writeFile(path.join(skillDirectory, 'scripts/.rules'), 'RULES\n');
  const left = async (): Promise<readonly string[]> =>
    (await readdir(scratch, { recursive: true })).toSorted();
  return { request: { skillDirectory, scratch }, skillDirectory, scratch, left };
}

test('R5 small files of a skill are copied, and copies go as they came unless something was done to them', async (t) => {
  const { request, scratch, left } = await open(t);
  const untouched = placeEntries(request, 'point');
  assert.deepEqual(untouched.mounts, []);
  assert.deepEqual(await left(), ['scripts', 'scripts/.rules', 'scripts/make.sh']);
  // Written again with the same words.
  await writeFile(path.join(scratch, 'scripts/.rules'), 'RULES\n');
  untouched.remove();
  assert.deepEqual(await left(), []);
  const changed = placeEntries(request, 'point');
  await writeFile(path.join(scratch, 'scripts/.rules'), 'OTHER\n');
  await chmod(path.join(scratch, 'scripts/make.sh'), 0o700);
  changed.remove();
  assert.deepEqual(await left(), ['scripts', 'scripts/.rules', 'scripts/make.sh']);
  assert.equal(await readFile(path.join(scratch, 'scripts/.rules'), 'utf8'), 'OTHER\n');
});

test('R5 T9 a folder with a link in it, with many files or with many bytes is mounted, not copied', async (t) => {
  const { request, skillDirectory, left } = await open(t);
  for (const folder of ['linked', 'many', 'large']) await mkdir(path.join(skillDirectory, folder));
  await symlink('/etc/hostname', path.join(skillDirectory, 'linked/host'));
  for (let number = 0; number < 60; number++)
    await writeFile(path.join(skillDirectory, 'many', `${number}.txt`), '');
  await writeFile(path.join(skillDirectory, 'large/a.txt'), 'x'.repeat(500_001));
  const { mounts, remove } = placeEntries(request, 'nothing');
  assert.deepEqual(mounts.map(({ names }) => names.join('/')).toSorted(), ['large', 'linked', 'many']);
  assert.deepEqual(await left(), ['scripts', 'scripts/.rules', 'scripts/make.sh']);
  remove();
  assert.deepEqual(await left(), []);
});

test('R5 a path of the skill is hidden by a file or link of the run on its way, not by a folder', async (t) => {
  const { scratch } = await open(t);
  assert.equal(isHiddenEntry(scratch, 'scripts/make.sh'), false);
  await mkdir(path.join(scratch, 'scripts'));
  assert.equal(isHiddenEntry(scratch, 'scripts/make.sh'), false);
  await writeFile(path.join(scratch, 'scripts/make.sh'), 'echo x > y\n');
  assert.equal(isHiddenEntry(scratch, 'scripts/make.sh'), true);
  await symlink('/etc', path.join(scratch, 'other'));
  assert.equal(isHiddenEntry(scratch, 'other/make.sh'), true);
  await mkdir(path.join(scratch, 'third/make.sh'), { recursive: true });
  assert.equal(isHiddenEntry(scratch, 'third/make.sh'), true);
});

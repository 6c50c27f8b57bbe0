import assert from 'node:assert/strict';
import { chmod, chown, mkdir, mkdtemp, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { compileCacheFolder } from '../../src/cli/compile-cache.js';
import { ownDataDir } from '../../src/operator/own-data-dir.ts';
import { askControl, controlPath } from '../../src/channels/terminal/control.ts';
import { changeableByOthers, isPrivateGroup } from '../../src/lib/files/changeable-by-others.js';
import { findPlugin } from '../../src/features/plugins/find-plugin.ts';
import { openCliHome } from '../support/run-cli.ts';

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
  await chmod(file, 0o646);
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

test('S10 a group that holds this user alone may write, everybody may not', async (t) => {
  const folder = await makeFolder(t);
  const alone = (): boolean => true;
  await chmod(folder, 0o775);
  assert.equal(changeableByOthers(folder, process.getuid?.(), alone), undefined);
  await chmod(folder, 0o777);
  assert.match(changeableByOthers(folder, process.getuid?.(), alone) ?? '', /can be written by/);
});

test('S10 a group is private only where /etc says so', async (t) => {
  const etc = await makeFolder(t);
  const users =
    'root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nbob:x:1001:1001::/home/bob:/bin/sh\n';
  const groups = 'root:x:0:\nann:x:1000:\nbob:x:1001:ann\nstaff:x:50:\n';
  const isPrivate = async (gid: number, us: number, passwd = users, group = groups): Promise<boolean> => {
    await writeFile(path.join(etc, 'passwd'), passwd);
    await writeFile(path.join(etc, 'group'), group);
    return isPrivateGroup(gid, us, etc);
  };
  assert.equal(await isPrivate(1000, 1000), true);
  assert.equal(await isPrivate(1000, 1001), false, 'of somebody else');
  assert.equal(await isPrivate(1001, 1001), false, 'another member');
  assert.equal(await isPrivate(50, 1000), false, 'a group of no user');
  assert.equal(
    await isPrivate(1000, 1000, `${users}eve:x:1002:1000::/:/bin/sh\n`),
    false,
    'two users’ first group',
  );
  assert.equal(await isPrivate(1000, 1000, users, groups.replace('ann:x:1000', 'team:x:1000')), false);
  assert.equal(await isPrivate(1000, 1000, users, 'root:x:0:\n'), false, 'not listed');
  await rm(path.join(etc, 'group'));
  assert.equal(isPrivateGroup(1000, 1000, etc), false, 'nothing is known');
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
  await chmod(folder, 0o757);
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

test('L4 S10 a data directory that is gone, replaced or changed is told while it is owned', async (t) => {
  const folder = await makeFolder(t);
  const home = path.join(folder, 'data');
  const owned = ownDataDir(home);
  t.after(owned.release);
  assert.equal(owned.problem(), undefined);
  await chmod(home, 0o777);
  assert.match(owned.problem() ?? '', /data can be written by its group or by others: chmod go-w it$/);
  await chmod(home, 0o700);
  await rename(home, path.join(folder, 'moved'));
  assert.match(owned.problem() ?? '', /is gone/);
  await mkdir(home, { mode: 0o700 });
  assert.match(owned.problem() ?? '', /is gone/);
  await rm(home, { recursive: true });
  await rename(path.join(folder, 'moved'), home);
  assert.equal(owned.problem(), undefined);
});

test('S10 nothing is said to a control socket that somebody else could listen on', async (t) => {
  const folder = await makeFolder(t);
  const socket = controlPath(folder);
  const heard: unknown[] = [];
  const server = createServer((connection) => {
    heard.push(connection);
    connection.end('{"ok":true,"data":"mine"}\n');
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  t.after(() => server.close());
  await chmod(socket, 0o600);
  assert.deepEqual(await askControl(socket, 'pair list'), { data: 'mine' });
  await chmod(socket, 0o666);
  await assert.rejects(askControl(socket, 'pair list'), /somebody else could answer for it.*control\.sock/);
  await chmod(socket, 0o600);
  if (process.getuid?.() === 0) {
    await chown(socket, 65_534, 65_534);
    await assert.rejects(askControl(socket, 'pair list'), /control\.sock belongs to user 65534/);
    await chown(folder, 65_534, 65_534);
    assert.deepEqual(await askControl(socket, 'pair list'), { data: 'mine' }, 'root asks the bot of others');
  }
  assert.equal(heard.length, process.getuid?.() === 0 ? 2 : 1);
});

test('S10 code is not run where NODE_COMPILE_CACHE names a folder that others can change', async (t) => {
  const folder = await makeFolder(t);
  const { runAlone: run } = await openCliHome(t);
  const ours = await run(['--version'], { env: { NODE_COMPILE_CACHE: path.join(folder, 'ours') } });
  assert.equal(ours.code, 0, ours.stderr);
  const theirs = path.join(folder, 'theirs');
  await mkdir(theirs);
  await chmod(theirs, 0o777);
  const refused = await run(['--version'], { env: { NODE_COMPILE_CACHE: theirs } });
  assert.match(refused.stderr, /NODE_COMPILE_CACHE: .*theirs can be written by its group or by others/);
  assert.deepEqual([refused.code, refused.stdout], [2, '']);
});

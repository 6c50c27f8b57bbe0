import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { createStoreHealth } from '../../src/operator/health/store-health.ts';
import { lockOwner } from '../../src/store/sqlite/lock-owner.ts';
import { makeFolders } from '../../src/store/make-folders.ts';
import { openStore } from '../../src/store/open-store.ts';
import { storeFault } from '../../src/store/store-fault.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';

async function folder(t: TestContext): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'skillet-lost-'));
  t.after(() => rm(made, { recursive: true, force: true }));
  return made;
}

const losses: readonly (readonly [string, (file: string) => Promise<void>])[] = [
  ['was removed', (file) => rm(file)],
  ['was removed with its folder', (file) => rm(path.dirname(file), { recursive: true })],
  ['was replaced', (file) => rename(`${file}.pid`, file)],
];
for (const [what, lose] of losses) {
  test(`Q11 a store whose file ${what} is red within a minute, and says how to save what it holds`, async (t) => {
    const file = path.join(await folder(t), 'data', 'skillet.db');
    const store = await openStore(`sqlite:${file}`);
    t.after(() => store.close());
    const clock = createManualClock();
    const log = quietLog();
    const health = createStoreHealth({ check: store.check, onFault: () => undefined, clock, log });
    t.after(() => health.stop());
    health.start(() => undefined);
    await clock.advance(60_000);
    assert.deepEqual(health.state(), { ok: true });
    await lose(file);
    await clock.advance(60_000);
    const state = health.state();
    assert.ok(!state.ok);
    assert.match(state.reason, /skillet\.db was removed or replaced .* `skillet backup FILE`/);
    assert.equal(storeFault(await store.check().catch((error: unknown) => error))?.undone, true);
    assert.ok(log.lines.some(({ level }) => level === 'error'));
  });
}

test('Q9 a lock is given back although the file beside it can not be removed', async (t) => {
  const file = path.join(await folder(t), 'store');
  const lock = lockOwner(file);
  await rm(`${file}.pid`);
  await mkdir(`${file}.pid`);
  lock.release();
  await rm(`${file}.pid`, { recursive: true });
  lockOwner(file).release();
});

test('S4 a lock and what SQLite puts beside it are for this user alone', async (t) => {
  const home = await folder(t);
  for (const name of ['store', 'older']) {
    if (name === 'older') await writeFile(path.join(home, 'older.lock'), '', { mode: 0o644 });
    t.after(lockOwner(path.join(home, name)).release);
  }
  const modes = (await readdir(home)).map(
    async (name) => `${name} ${((await stat(path.join(home, name))).mode & 0o777).toString(8)}`,
  );
  assert.deepEqual((await Promise.all(modes)).toSorted(), [
    'older.lock 600',
    'older.lock-journal 600',
    'older.pid 600',
    'store.lock 600',
    'store.lock-journal 600',
    'store.pid 600',
  ]);
});

test('G2 folders are made with those above them, and where that can not be it is an error at once', async (t) => {
  const made = path.join(await folder(t), 'a', 'b');
  makeFolders(made, 0o700);
  makeFolders(made, 0o700);
  const file = path.join(made, 'c');
  await openStore(`sqlite:${file}`).then((store) => store.close());
  assert.throws(() => makeFolders(file, 0o700), /b\/c is a file, and a folder must be there$/);
  assert.throws(
    () => makeFolders(path.join(file, 'd'), 0o700),
    /b\/c is a file, and a folder must be there$/,
  );
  if (process.platform === 'linux')
    assert.throws(
      () => makeFolders('/proc/skillet/data', 0o700),
      /\/proc takes no new folder, so \/proc\/skillet can't be made$/,
    );
});

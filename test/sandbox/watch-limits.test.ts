import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { roomIn } from '../../src/sandbox/limits/measure-disk.ts';
import { watchLimits } from '../../src/sandbox/limits/watch-limits.ts';
import type { StopReason } from '../../src/sandbox/sandbox.ts';
import { until } from '../support/until.ts';

const skip = process.platform !== 'linux' && 'limits are watched on Linux only';
const limits = { memoryMb: 100_000, cpuSeconds: 100_000, processes: 100_000, diskMb: 1 };

/** Not this process: what other tests hold in it would count. */
function idleProcess(t: TestContext): number {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  t.after(() => child.kill());
  return child.pid ?? 0;
}

async function fullFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-full-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(path.join(folder, 'full'), Buffer.alloc(3_000_000, 1));
  return folder;
}

test(
  'T9 a full folder that weighs more at a later look stops a command only once something was written to it',
  { skip },
  async (t) => {
    const chat = await fullFolder(t);
    const scratch = await mkdtemp(path.join(tmpdir(), 'skillet-scratch-'));
    t.after(() => rm(scratch, { recursive: true }));
    const seen: { looks: number; used: boolean; over: StopReason[] } = { looks: 0, used: false, over: [] };
    // As if the folder had weighed 2 MB before: the same file is allocated late.
    const room = { bytes: 2_000_000, wasUsed: async () => (seen.looks++, seen.used) };
    const watch = watchLimits({
      ...{ root: idleProcess(t), scratch, chat, limits, met: () => undefined },
      room: Promise.resolve(room),
      onOver: (reason) => seen.over.push(reason),
    });
    t.after(() => watch.stop());
    await until(async () => seen.looks >= 2);
    assert.deepEqual(seen.over, []);
    seen.used = true;
    await until(async () => seen.over.length > 0);
    assert.deepEqual(seen.over, ['disk']);
  },
);

test('T9 after a look that took long the bot has as much time for others', { skip }, async (t) => {
  const scratch = await mkdtemp(path.join(tmpdir(), 'skillet-scratch-'));
  t.after(() => rm(scratch, { recursive: true }));
  const looks: Readonly<{ began: number; ended: number }>[] = [];
  const slowly = (): undefined => {
    const began = performance.now();
    while (performance.now() < began + 80);
    looks.push({ began, ended: performance.now() });
  };
  const watch = watchLimits({
    ...{ root: idleProcess(t), scratch, limits, met: slowly },
    room: Promise.resolve(undefined),
    onOver: (reason) => assert.fail(reason),
  });
  t.after(() => watch.stop());
  await until(async () => looks.length >= 4);
  watch.stop();
  const rests = looks.slice(1).map(({ began }, index) => began - (looks[index]?.ended ?? 0));
  assert.ok(
    rests.every((rest) => rest >= 75),
    rests.join(),
  );
});

test(
  'T9 T10 a folder that was full may keep what it held; a new or longer file in it counts as written',
  { skip },
  async (t) => {
    const changes: readonly ((folder: string) => Promise<void>)[] = [
      (folder) => appendFile(path.join(folder, 'full'), 'x'),
      (folder) => writeFile(path.join(folder, 'new'), ''),
    ];
    for (const change of changes) {
      const folder = await fullFolder(t);
      const room = await roomIn(folder, 1_000_000);
      assert.ok(room.bytes >= 3_000_000);
      assert.equal(await room.wasUsed(), false);
      await change(folder);
      assert.equal(await room.wasUsed(), true);
    }
    const roomy = await roomIn(await fullFolder(t), 10_000_000);
    assert.deepEqual([roomy.bytes, await roomy.wasUsed()], [10_000_000, true]);
  },
);

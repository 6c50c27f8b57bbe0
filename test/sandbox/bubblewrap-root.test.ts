import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createBubblewrapSandbox } from '../../src/sandbox/bubblewrap/bubblewrap.ts';
import { buildRoot } from '../../src/sandbox/packages/build-root.ts';
import { followRootFileSystem } from '../../src/sandbox/packages/available-packages.ts';
import { rootRecipe } from '../../src/sandbox/packages/root-recipe.ts';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';
import { sandboxLimits } from '../support/sandbox-limits.ts';
import { standInRootTool, withShell } from '../support/stand-in-root-tool.ts';
import { lockOwner } from '../../src/store/sqlite/lock-owner.ts';

const { bwrap, skip } = bubblewrapHere;
/** A program for each package, which is on no host. */
const withPrograms = `${withShell}
for name in "$@"; do printf '#!/bin/sh\\necho "$0 of the tree: $*"\\n' > "$tree/usr/bin/$name"; chmod 755 "$tree/usr/bin/$name"; done
`;

test(
  'R6 T9 commands run in the tree that is built, from the next command on, and find nothing of the host',
  { skip },
  async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'skillet-tree-'));
    const [scratch, kept] = [path.join(folder, 'scratch'), path.join(folder, 'rootfs')];
    mkdirSync(scratch);
    const root = followRootFileSystem(kept);
    const sandbox = createBubblewrapSandbox({ bwrap, limits: sandboxLimits, rootfs: () => root()?.path });
    t.after(async () => {
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const run = (...argv: [string, ...string[]]) =>
      sandbox.run({
        argv,
        scratch,
        network: [],
        env: {},
        timeoutMs: 10_000,
        outputCap: 2_000,
        signal: t.signal,
      });
    const build = (...packages: string[]) =>
      buildRoot(
        {
          folder: kept,
          recipe: rootRecipe([{ name: 'parcels', packages }], {
            suite: 'bookworm',
            lines: ['deb x bookworm y'],
          }),
          now: Date.now(),
          signal: t.signal,
        },
        {
          tool: standInRootTool(withPrograms),
          lock: lockOwner,
          flush: async () => undefined,
          onLine: () => undefined,
        },
      );

    const before = await run('weigh', '1');
    assert.equal(before.status, 'unavailable');
    await build('weigh');
    const after = await run('weigh', '1', 'a b');
    assert.deepEqual(after.status === 'exited' && after.stdout, '/usr/bin/weigh of the tree: 1 a b\n');
    const host = await run('env', 'true');
    assert.equal(host.status, 'unavailable');
    const known = await run('jq', '.');
    assert.ok(known.status === 'unavailable' && /skillet sandbox build/.test(known.message));

    await build('measure');
    assert.equal((await run('weigh')).status, 'unavailable');
    const other = await run('measure');
    assert.deepEqual(other.status === 'exited' && other.stdout, '/usr/bin/measure of the tree: \n');
    const written = await run('sh', '-c', 'echo x > /usr/bin/measure');
    assert.ok(written.status === 'exited' && written.exitCode !== 0, 'the tree is read-only');
  },
);

test(
  'R5 T9 what skills of elsewhere call python is python3 where the system has only that, in a shell too',
  { skip },
  async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'skillet-python-'));
    const [scratch, rootfs] = [path.join(folder, 'scratch'), path.join(folder, 'root')];
    mkdirSync(scratch);
    const recipe = rootRecipe([{ name: 'any', packages: ['python3'] }], { suite: 'x', lines: ['deb x x y'] });
    const tool = standInRootTool(withPrograms);
    const quiet = { flush: async () => undefined, onLine: () => undefined };
    await buildRoot(
      { folder: rootfs, recipe, now: Date.now(), signal: t.signal },
      { tool, lock: lockOwner, ...quiet },
    );
    const root = followRootFileSystem(rootfs);
    const sandbox = createBubblewrapSandbox({ bwrap, limits: sandboxLimits, rootfs: () => root()?.path });
    t.after(async () => {
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    });
    for (const argv of [['python', 'x'] as const, ['sh', '-c', 'python x'] as const]) {
      const limits = { timeoutMs: 10_000, outputCap: 2_000, signal: t.signal };
      const ran = await sandbox.run({ argv, scratch, network: [], env: {}, ...limits });
      assert.match(ran.status === 'exited' ? ran.stdout : '', /of the tree: x$/m, JSON.stringify(ran));
    }
  },
);

import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { createBubblewrapSandbox } from '../../src/sandbox/bubblewrap/bubblewrap.ts';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';
import { contractLimits, exited, makeGround, requestOf } from '../support/sandbox-contract.ts';

const { bwrap, skip } = bubblewrapHere;

test("R5 a skill's own Python modules are found from the working directory", { skip }, async (t) => {
  const roots: string[] = [];
  const sandbox = createBubblewrapSandbox({ bwrap, limits: contractLimits });
  t.after(async () => {
    await sandbox.close();
    await Promise.all(roots.map((root) => rm(root, { recursive: true, force: true })));
  });
  const ground = await makeGround(roots);
  for (const [file, text] of [
    ['core/builder.py', 'def build(): return "built"\n'],
    ['scripts/utils.py', 'word = "packed"\n'],
    ['scripts/package.py', 'from scripts.utils import word\nprint(word)\n'],
  ] as const) {
    await mkdir(path.dirname(path.join(ground.skill, file)), { recursive: true });
    await writeFile(path.join(ground.skill, file), text);
  }
  const run = (...argv: [string, ...string[]]) => sandbox.run(requestOf(sandbox, ground, { argv }));
  const first = await run('python3', '-c', 'from core.builder import build; print(build())');
  if (first.status === 'unavailable') return t.skip('needs python3');
  assert.equal(exited(first).stdout, 'built\n', exited(first).stderr);
  const second = exited(await run('sh', '-c', 'python3 -m scripts.package && pwd'));
  assert.equal(second.stdout, 'packed\n/scratch\n', second.stderr);
  const own = { argv: ['sh', '-c', 'echo $PYTHONPATH'] as const, env: { PYTHONPATH: '/scratch' } };
  assert.equal(exited(await sandbox.run(requestOf(sandbox, ground, own))).stdout, '/scratch\n');
});

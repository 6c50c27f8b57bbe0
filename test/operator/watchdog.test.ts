import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';

const program = path.join(import.meta.dirname, '../support/watched-process.ts');

async function watched(t: TestContext) {
  const child = spawn(process.execPath, [program]);
  t.after(() => child.kill('SIGKILL'));
  const said = text(child.stderr);
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  return { child, said, ended };
}

test('S9 a process whose event loop stands still ends itself and says why', async (t) => {
  const { child, said, ended } = await watched(t);
  child.stdin.write('block');
  assert.deepEqual(await ended, [null, 'SIGKILL']);
  assert.match(await said, /"msg":"The event loop stood still for 0\.6 s: the process ends itself\."\}\n$/);
});

test('S9 a process that was merely suspended goes on', async (t) => {
  const suspended = await watched(t);
  suspended.child.kill('SIGSTOP');
  // One that stands still ends meanwhile, so time enough has gone by; twice, for good measure.
  for (let time = 0; time < 2; time++) {
    const blocked = await watched(t);
    blocked.child.stdin.write('block');
    await blocked.ended;
  }
  suspended.child.kill('SIGCONT');
  suspended.child.stdin.write('end');
  assert.deepEqual(await suspended.ended, [0, null]);
});

for (const [what, script] of [
  ['that is not there', undefined],
  ['that fails', 'exit 1'],
  ['that ends at once', 'exit 0'],
  ['that says 127', 'exit 127'],
] as const)
  test(`S9 S15 a watchdog with a "sleep" ${what} says that it can't watch, and ends nobody`, async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'skillet-sleep-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    if (script !== undefined)
      await writeFile(path.join(folder, 'sleep'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const child = spawn(process.execPath, [program, folder]);
    t.after(() => child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    const [line] = (await once(createInterface({ input: child.stderr }), 'line')) as [string];
    assert.match(line, /there is no watchdog/);
    child.stdin.write('end');
    assert.deepEqual(await ended, [0, null]);
  });

test('S9 S15 a watchdog that finds no free file descriptor says so, and the process works on', async (t) => {
  const limited = [
    '-c',
    'ulimit -n 40; exec "$@"',
    'sh',
    process.execPath,
    program,
    '/usr/bin:/bin',
    'hungry',
  ];
  const child = spawn('/bin/sh', limited);
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  const [line] = (await once(createInterface({ input: child.stderr }), 'line')) as [string];
  assert.match(line, /EMFILE.*there is no watchdog/);
  child.stdin.write('end');
  assert.deepEqual(await ended, [0, null]);
});

test('S9 S15 a process that stands still ends, though its log is closed or nobody reads it', async (t) => {
  for (const log of ['closed', 'full']) {
    const child = spawn(process.execPath, [program]);
    t.after(() => child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    if (log === 'closed') child.stderr.destroy();
    child.stdin.write(log === 'closed' ? 'block' : 'fill');
    assert.deepEqual(await ended, [null, 'SIGKILL'], log);
  }
});

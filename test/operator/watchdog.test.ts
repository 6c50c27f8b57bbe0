import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';

async function watched(t: TestContext) {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, '../support/watched-process.ts')]);
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
  assert.match(
    await said,
    /"msg":"The event loop stood still for 0\.6\d* s: the process ends itself\."\}\n$/,
  );
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

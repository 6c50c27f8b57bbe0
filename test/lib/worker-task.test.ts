import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorkerTask } from '../../src/lib/processes/worker-task.ts';

const busy = new URL('../support/workers/busy-worker', import.meta.url);
const never = new AbortController().signal;

test('S15 work in a thread gets its input, none of the environment, and gives its answer', async () => {
  const read = createWorkerTask<string, string>(busy, { ms: 60_000 });
  assert.deepEqual(await read('a page', never), { ok: true, answer: 'read a page with 0 variables' });
});

test('S15 work that does not end is ended, and what waits for its turn is done then', async () => {
  const read = createWorkerTask<string, string>(busy, { ms: 3_000 });
  const [endless, next] = await Promise.all([read('loop', never), read('a page', never)]);
  assert.ok(!endless.ok && endless.why === 'time');
  assert.ok(next.ok, 'waiting took none of its time');
});

test('S15 work that breaks, or needs more memory than it may have, is told apart from work without an end', async () => {
  const read = createWorkerTask<string, string>(busy, { ms: 60_000 });
  for (const input of ['throw', 'fill']) {
    const result = await read(input, never);
    assert.ok(!result.ok && result.why === 'failed', input);
  }
});

test('S15 work whose thread cannot be started has failed, and what waits for its turn is done then', async () => {
  const read = createWorkerTask<unknown, string>(busy, { ms: 60_000 });
  const result = await read(() => 'no thread can be given this', never);
  assert.ok(!result.ok && result.why === 'failed');
  assert.ok((await read('a page', never)).ok);
});

test('S15 work that nobody waits for any more is ended', async () => {
  const read = createWorkerTask<string, string>(busy, { ms: 60_000 });
  const stop = new AbortController();
  const work = read('loop', stop.signal);
  stop.abort(new Error('stopped'));
  await assert.rejects(work, /stopped/);
  await assert.rejects(read('a page', stop.signal), /stopped/);
  assert.ok((await read('a page', never)).ok);
});

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { onAbort, untilAborted } from '../../src/lib/async/on-abort.ts';

test('an abort is acted on once', () => {
  const { signal, abort } = aborting();
  let acted = 0;
  onAbort(signal, () => (acted += 1));
  assert.equal(acted, 0);
  abort();
  abort();
  assert.equal(acted, 1);
});

test('a signal that has aborted already is acted on at once', () => {
  let acted = 0;
  const takeOff = onAbort(AbortSignal.abort(), () => (acted += 1));
  assert.equal(acted, 1);
  takeOff();
});

test('what was taken off is not called', () => {
  const { signal, abort } = aborting();
  let acted = 0;
  onAbort(signal, () => (acted += 1))();
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  abort();
  assert.equal(acted, 0);
});

test('the same function can wait twice, and each wait is taken off alone', () => {
  const { signal, abort } = aborting();
  let acted = 0;
  const act = (): void => void (acted += 1);
  const takeOff = onAbort(signal, act);
  onAbort(signal, act);
  takeOff();
  abort();
  assert.equal(acted, 1);
});

test('work settles as without a signal, and leaves no listener behind', async () => {
  const { signal } = aborting();
  assert.equal(await untilAborted(Promise.resolve('done'), signal), 'done');
  await assert.rejects(untilAborted(Promise.reject(new Error('broken')), signal), /broken/);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('an abort rejects with its reason while work continues', async () => {
  const { signal, abort } = aborting();
  const waiting = untilAborted(new Promise<never>(() => undefined), signal);
  abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
});

test('a signal that has aborted already wins over work that is done', async () => {
  const signal = AbortSignal.abort(new Error('enough'));
  await assert.rejects(untilAborted(Promise.resolve('done'), signal), /enough/);
});

test('an error of work after the abort is ignored', async () => {
  const { signal, abort } = aborting();
  const work = Promise.withResolvers<never>();
  const waiting = untilAborted(work.promise, signal);
  abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  // An error that nobody handles would fail this test.
  work.reject(new Error('too late'));
  await new Promise(setImmediate);
});

function aborting(): Readonly<{ signal: AbortSignal; abort(reason?: unknown): void }> {
  const controller = new AbortController();
  return { signal: controller.signal, abort: (reason) => controller.abort(reason) };
}

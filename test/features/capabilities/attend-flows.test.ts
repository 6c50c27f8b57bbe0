import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createSignInWorker } from '../../../src/accounts/sign-in-worker.ts';
import type { AdvanceFlow } from '../../../src/features/capabilities/advance-flow.ts';
import { openFlow } from '../../../src/features/capabilities/auth-flows.ts';
import { caller, capabilityStage } from '../../support/capability-stage.ts';
import { createManualClock } from '../../support/manual-clock.ts';

/** Two sign-ins of one person that are due, and the loop that takes them on by `advance`. */
async function due(t: TestContext, advance: AdvanceFlow) {
  const stage = await capabilityStage(t);
  for (const capability of ['test.secret', 'test.anywhere']) {
    const begun = await stage.flows.begin(
      caller(),
      { capability, hint: capability, call: 'c' },
      stage.signal,
    );
    assert.ok(begun.ok);
    assert.equal(
      (await stage.say(`https://back.example/?code=c&state=state-${capability}`)).kind,
      'submitted',
    );
  }
  const stop = new AbortController();
  const { records, key, log, clock } = stage;
  const running = createSignInWorker({
    records,
    advance: async (kept, signal) => {
      const flow = openFlow(await key(), kept);
      if (flow !== undefined) await advance(flow, signal);
    },
    clock,
    log,
  }).run(stop.signal);
  return { ...stage, stop, running };
}

/** As a provider that never answers: ends with the signal alone. */
const hang = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

test('C6 a sign-in whose provider hangs delays no other, and is due again at once where the process is stopped', async (t) => {
  const other = Promise.withResolvers<void>();
  const { stop, running, records, clock, log } = await due(t, async ({ capability }, signal) => {
    if (capability === 'test.secret') return hang(signal);
    other.resolve();
    return { ok: true, value: 'waiting' };
  });
  await other.promise;
  assert.ok(((await records.nextDue()) ?? 0) > clock.now(), 'both are taken');
  stop.abort(new Error('stopped'));
  await running;
  const again = await records.takeDue(clock.now(), clock.now() + 1_000);
  assert.deepEqual([again?.capability, again?.state], ['test.secret', 'submitted']);
  assert.deepEqual(
    log.lines.filter(({ level }) => level === 'error'),
    [],
  );
});

/** A sign-in that is due, and processes that take it on and never come to an end with it; one whose clock stands still is dead. */
async function processes(t: TestContext) {
  const { flows, say, records, log, signal } = await capabilityStage(t);
  assert.ok((await flows.begin(caller(), { capability: 'test.secret', hint: 'ann', call: 'c' }, signal)).ok);
  assert.equal((await say('https://back.example/?code=c&state=state-ann')).kind, 'submitted');
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  return {
    start() {
      const clock = createManualClock(Date.now());
      const began = Promise.withResolvers<AbortSignal>();
      const advance: AdvanceFlow = (_, until) => {
        began.resolve(until);
        return hang(until);
      };
      const attend = createSignInWorker({ records, advance, clock, log });
      running.push(attend.run(stop.signal));
      return { clock, began: began.promise };
    },
    async stop() {
      stop.abort(new Error('stopped'));
      await Promise.all(running);
    },
  };
}

test('C6 a bot that was killed at a sign-in goes on with it within 10 seconds of its next start', async (t) => {
  const { start, stop } = await processes(t);
  const killed = start();
  await killed.began;
  const next = start();
  const started = next.clock.now();
  await next.clock.runUntil(next.began);
  const waited = next.clock.now() - started;
  assert.ok(waited <= 10_500, `it waited ${waited} ms`);
  await stop();
});

test('C6 Q9 nobody takes a sign-in that a process is at; one that it left is taken over, and it ends should it only have hung', async (t) => {
  const { start, stop } = await processes(t);
  const first = start();
  const taken = await first.began;
  const second = start();
  const over = { yet: false };
  void second.began.then(() => (over.yet = true));
  for (let seconds = 0; seconds < 60; seconds++) {
    await first.clock.advance(1_000);
    await second.clock.advance(1_000);
  }
  assert.equal(over.yet, false, 'it was taken from a process that is alive');
  const died = second.clock.now();
  await second.clock.runUntil(second.began);
  const waited = second.clock.now() - died;
  assert.ok(waited <= 25_000, `it waited ${waited} ms`);
  assert.equal(taken.aborted, false);
  await first.clock.advance(3_000);
  assert.equal(taken.aborted, true, 'a process that hung goes on beside the one that took over');
  await stop();
});

test('C6 a fault of one sign-in is logged, and the others go on', async (t) => {
  const other = Promise.withResolvers<void>();
  const { stop, running, log } = await due(t, async ({ capability }) => {
    if (capability === 'test.secret') throw new Error('broken');
    other.resolve();
    return { ok: true, value: 'waiting' };
  });
  await other.promise;
  await log.line(({ message }) => message === 'could not start work on a sign-in: trying again');
  stop.abort();
  await running;
});

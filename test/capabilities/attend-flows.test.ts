import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createAttendFlows } from '../../src/capabilities/attend-flows.ts';
import type { AdvanceFlow } from '../../src/capabilities/advance-flow.ts';
import { caller, capabilityStage } from '../support/capability-stage.ts';

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
  const running = createAttendFlows({ records, key, advance, clock, log }).run(stop.signal);
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

test('C6 a fault of one sign-in is logged, and the others go on', async (t) => {
  const other = Promise.withResolvers<void>();
  const { stop, running, log } = await due(t, async ({ capability }) => {
    if (capability === 'test.secret') throw new Error('broken');
    other.resolve();
    return { ok: true, value: 'waiting' };
  });
  await other.promise;
  await log.line(({ message }) => message === 'a sign-in could not be taken on: tried again');
  stop.abort();
  await running;
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settleRoutine, stopRoutine } from '../../../src/features/routines/settle-routine.ts';
import {
  firingMessage,
  firingKey,
  type RoutineTask,
} from '../../../src/features/routines/routine-message.ts';
import { sayIn } from '../../../src/core/texts/say.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { RoutineDefinition } from '../../../src/store/routines.ts';
import { partOf } from '../../support/app-of.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { makeRoutine } from '../../support/routines-contract.ts';
import type { Replies } from '../../../src/replies/replies.ts';

const creator = 'telegram:42';

/** One routine on a real store, and what becomes known of its firings. */
async function setUp(definition: Partial<RoutineDefinition> = {}) {
  const store = await openStore('sqlite::memory:');
  const routine = makeRoutine('r1', { definition: { name: 'Pay day', ...definition } });
  await store.routines.add(routine, 9);
  const told: string[] = [];
  const audited: string[] = [];
  const deps = {
    store,
    clock: createManualClock(7),
    audit: {
      record: async (event: object) => void audited.push('verdict' in event ? String(event.verdict) : ''),
    },
    replies: partOf<Replies>({
      async tellOwners(_key, words, { alsoTo = [], wordsToThem = words } = {}) {
        told.push(`owners: ${sayIn('en')(words)}`);
        for (const one of alsoTo) told.push(`${one}: ${sayIn('en')(wordsToThem)}`);
      },
    }),
  };
  const fired = (due: number) => {
    const of = { key: firingKey('r1', due), place: routine.definition.conversation, now: due, due };
    const message = firingMessage({ ...routine, failures: 0 }, of);
    return { message, task: message.task as RoutineTask };
  };
  const accept = (due: number) => store.inbox.accept(fired(due).message, { now: 7 });
  const settle = (due: number, how: 'answered' | 'quiet' | 'failed') => settleRoutine(fired(due), how, deps);
  const stop = (isRemoved: boolean) => stopRoutine(fired(9), { why: () => 'so it is.', isRemoved }, deps);
  const state = async () => (await store.routines.find('r1'))?.state;
  return { store, routine, accept, settle, stop, state, told, audited };
}

test('N4 the third failure in a row pauses a routine, once; an answer or nothing to report begins the count again', async () => {
  const { store, settle, state, audited } = await setUp();
  for (const [due, how] of [
    [1, 'failed'],
    [2, 'failed'],
    [3, 'answered'],
    [4, 'failed'],
    [5, 'failed'],
    [5, 'failed'],
    [6, 'quiet'],
    [7, 'failed'],
    [8, 'failed'],
  ] as const) {
    assert.deepEqual(await settle(due, how), {}, String(due));
    assert.equal(await state(), 'active');
  }
  for (const again of [false, true]) {
    const { note, buttons } = await settle(9, 'failed');
    assert.equal(note, 'This failed 3 times in a row, so I paused it.', String(again));
    assert.equal(buttons?.length, 3);
  }
  assert.equal(await state(), 'paused');
  assert.deepEqual(audited, ['paused']);
  const last = (await store.routines.find('r1'))?.last;
  assert.deepEqual([last?.how, last?.due, last?.at, last?.key], ['failed', 9, 7, 'routine:r1:9']);
  await store.close();
});

test('N4 a routine that has ended is not paused, and one that is gone is no trouble', async () => {
  const { store, routine, settle, state, audited } = await setUp();
  for (const due of [1, 2]) await settle(due, 'failed');
  await store.routines.change('r1', { definition: routine.definition, state: 'ended' });
  assert.deepEqual(await settle(3, 'failed'), {});
  assert.equal(await state(), 'ended');
  await store.routines.remove('r1');
  assert.deepEqual(await settle(4, 'failed'), {});
  assert.deepEqual(audited, []);
  await store.close();
});

test('N3 A9 S8 who hears that a routine was stopped: owners by its id, its creator by its name, who was removed nothing', async () => {
  const removed = await setUp();
  await removed.stop(true);
  assert.deepEqual(removed.told, [`owners: I paused the routine \`r1\` of \`${creator}\`: so it is.`]);
  assert.deepEqual([await removed.state(), removed.audited], ['paused', ['stopped']]);
  await removed.stop(true);
  assert.deepEqual(removed.audited, ['stopped'], 'a repetition is none');

  const { told, stop, store } = await setUp();
  await stop(false);
  assert.deepEqual(told, [
    `owners: I paused the routine \`r1\` of \`${creator}\`: so it is.`,
    `${creator}: I paused the routine \`Pay day\` of \`${creator}\`: so it is.`,
  ]);
  assert.deepEqual((await store.routines.find('r1'))?.last?.note, 'so it is.');

  const public_ = await setUp({ fromConfig: true });
  await public_.stop(true);
  assert.match(public_.told[0] ?? '', /`Pay day`/);
  for (const each of [removed, { store }, public_]) await each.store.close();
});

test('N4 Q5 what failed a third time and is answered after a crash says nothing of a pause', async () => {
  const { store, settle } = await setUp();
  for (const due of [1, 2, 3]) await settle(due, 'failed');
  assert.deepEqual(await settle(3, 'answered'), {});
  await store.close();
});

test('N3 Q8 a firing that was stopped is done, and of a routine that is gone as well', async () => {
  const { store, accept, stop, told, audited } = await setUp();
  for (const isGone of [false, true]) {
    if (isGone) await store.routines.remove('r1');
    await accept(9);
    await stop(false);
    assert.deepEqual(await store.inbox.list('waiting'), [], String(isGone));
  }
  assert.equal(told.length, 4);
  assert.deepEqual(audited, ['stopped']);
  await store.close();
});

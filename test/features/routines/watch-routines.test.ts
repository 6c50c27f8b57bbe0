import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchRoutines } from '../../../src/features/routines/watch-routines.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { RoutineDefinition } from '../../../src/store/routines.ts';
import { quietLog } from '../../support/quiet-log.ts';
import { makeRoutine } from '../../support/routines-contract.ts';
import { unmovedChats } from '../../support/unmoved-chats.ts';

test('N1 what becomes due while another fires is fired in the same look', async () => {
  const time = { now: Date.UTC(2026, 0, 1) };
  const clock = { now: () => time.now, sleep: () => new Promise<void>(() => undefined) };
  const store = await openStore('sqlite::memory:', { clock });
  await store.routines.add(makeRoutine('first', { dueAt: time.now }), 9);
  await store.routines.add(makeRoutine('second', { dueAt: time.now + 500 }), 9);
  const fired: string[] = [];
  const watch = watchRoutines({
    store: {
      ...store,
      async fire(firing) {
        fired.push(firing.id);
        time.now += 1_000;
        return store.fire(firing);
      },
    },
    migrations: unmovedChats,
    audit: { record: async () => undefined },
    clock,
    log: quietLog(),
  });
  watch.start();
  await watch.idle();
  assert.deepEqual(fired, ['first', 'second']);
  await watch.stop();
  await store.close();
});

/** Looks once at one routine, due `lateMs` ago. Returns the due times that fired, and what became of it. */
async function lookAt(definition: Partial<RoutineDefinition>, lateMs: number) {
  const now = Date.UTC(2026, 0, 5, 12);
  const clock = { now: () => now, sleep: () => new Promise<void>(() => undefined) };
  const store = await openStore('sqlite::memory:', { clock });
  await store.routines.add(makeRoutine('r1', { dueAt: now - lateMs, definition }), 9);
  const verdicts: string[] = [];
  const watch = watchRoutines({
    store,
    migrations: unmovedChats,
    audit: { record: async (event) => void verdicts.push('verdict' in event ? event.verdict : '') },
    clock,
    log: quietLog(),
  });
  watch.start();
  await watch.idle();
  await watch.stop();
  const fired = (await store.inbox.list('waiting')).map(({ key }) => now - Number(key.split(':').at(-1)));
  const routine = await store.routines.find('r1');
  await store.close();
  return { fired, routine, verdicts };
}

const minute = 60_000;
const hourly = { when: { kind: 'cron', expression: '56 * * * *' }, timezone: 'UTC' } as const;

test('N5 a single time always comes, also late and with catch_up none', async () => {
  const once = { when: { kind: 'once', at: 1 }, catchUp: 'none' } as const;
  const { fired, routine, verdicts } = await lookAt(once, 6 * minute);
  assert.deepEqual([fired, routine?.state, verdicts], [[6 * minute], 'ended', ['fired']]);
});

test('N5 with catch_up none a last time of less than five minutes ago still comes, the earlier ones do not', async () => {
  const late = await lookAt({ ...hourly, catchUp: 'none' }, 124 * minute);
  assert.deepEqual(late.fired, [4 * minute]);
  assert.equal(late.routine?.last?.note, '2');
});

test('N5 with catch_up none a time is missed after five minutes, not before', async () => {
  const when = { kind: 'cron', expression: '0 0 * * 1' } as const;
  for (const [lateMs, fired] of [
    [5 * minute, [5 * minute]],
    [5 * minute + 1, []],
  ] as const) {
    const late = await lookAt({ ...hourly, when, catchUp: 'none' }, lateMs);
    assert.deepEqual(late.fired, fired);
    assert.equal(late.routine?.state, 'active');
  }
  const { when: each } = { when: { kind: 'cron', expression: '54 * * * *' } as const };
  const old = await lookAt({ ...hourly, when: each, catchUp: 'none' }, 126 * minute);
  assert.deepEqual([old.fired, old.routine?.last?.note], [[], '3']);
});

test('N5 with catch_up all the last 24 of the missed times come, oldest first', async () => {
  const { fired, routine } = await lookAt({ ...hourly, catchUp: 'all' }, 30 * 60 * minute + 4 * minute);
  assert.equal(fired.length, 24);
  assert.deepEqual([fired[0], fired.at(-1)], [(23 * 60 + 4) * minute, 4 * minute]);
  assert.equal(routine?.last?.note, '7');
});

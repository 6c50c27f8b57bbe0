import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cron } from 'croner';
import { fireDue } from '../../../src/features/routines/watch-routines.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Firing } from '../../../src/store/routines.ts';
import { seededRandom } from '../../support/crash/seeded-random.ts';
import { thorough } from '../../support/crash/thorough.ts';
import { quietLog } from '../../support/quiet-log.ts';
import { makeRoutine } from '../../support/routines-contract.ts';
import { unmovedChats } from '../../support/unmoved-chats.ts';

const day = 24 * 3_600_000;
const zones = ['Europe/Berlin', 'Australia/Lord_Howe', 'America/New_York', 'America/Santiago', 'Asia/Tokyo'];
const expressions = ['30 2 * * 0', '0 9 * * 1', '15 23 1 * *', '45 0 * * 3', '0 6,18 * * 6', '30 2 * * *'];

/** A process that dies: in its middle nothing more is done. */
class Killed extends Error {
  override readonly name = 'Killed';
}

/**
 * The clock is set to one due time after the other. At 50 moments the process is killed before or after the firing is
 * stored, or the clock is set back, or forward by up to a day.
 */
async function simulate(count: number, days: number): Promise<void> {
  const { next: random } = seededRandom(7);
  const from = Date.UTC(2026, 2, 20);
  const time = { now: from };
  const clock = { now: () => time.now, sleep: async () => undefined };
  const log = quietLog();
  const store = await openStore('sqlite::memory:', { clock });
  const wanted = new Map<string, number>();
  for (let n = 0; n < count; n++) {
    const [timezone = '', expression = ''] = [zones[n % zones.length], expressions[n % expressions.length]];
    const direct = new Cron(expression, { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard' });
    const all = direct.nextRuns(2 * days + 5, new Date(from)).map((date) => date.getTime());
    for (const due of all.filter((at) => at <= from + days * day)) wanted.set(`routine:r${n}:${due}`, 0);
    const definition = { when: { kind: 'cron', expression }, timezone, catchUp: 'all' } as const;
    await store.routines.add(makeRoutine(`r${n}`, { dueAt: all[0] ?? 0, definition }), count);
  }
  const total = wanted.size;
  const mishaps = new Set(Array.from({ length: 50 }, () => Math.floor(random() * total)));
  let firings = 0;
  const fire = async (firing: Firing): Promise<boolean> => {
    const at = firings++;
    if (mishaps.delete(at)) {
      if (random() < 0.3) throw new Killed('before it is stored');
      if (random() < 0.4) {
        await count1(firing);
        throw new Killed('after it is stored');
      }
      time.now += random() < 0.5 ? -3_600_000 : Math.floor(random() * day);
    }
    return count1(firing);
  };
  const count1 = async (firing: Firing): Promise<boolean> => {
    const fired = await store.fire(firing);
    const { id } = firing.message;
    if (fired) {
      wanted.set(id, (wanted.get(id) ?? 10) + 1);
      await store.commit({ done: id });
    }
    return fired;
  };
  const host = {
    store: { ...store, fire },
    migrations: unmovedChats,
    audit: { record: async () => undefined },
    clock,
    log,
  };
  for (;;) {
    const next = await store.routines.nextDue();
    if (next === undefined || next > from + days * day) break;
    time.now = Math.max(time.now, next);
    for (const routine of await store.routines.due(time.now, 50))
      await fireDue(routine, host).catch((error: unknown) =>
        assert.ok(error instanceof Killed, String(error)),
      );
  }
  assert.equal(mishaps.size < 5, true, 'nearly all of the mishaps came');
  const late = [...wanted].filter(([, times]) => times === 11);
  // A clock that was ahead at the end has fired a few of the next day, each once.
  const wrong = [...wanted].filter(([, times]) => times !== 1 && times !== 11);
  assert.deepEqual(wrong, [], `of ${total}`);
  assert.ok(late.length <= count, String(late.length));
  assert.deepEqual(await store.inbox.list('waiting'), []);
  await store.close();
}

test('N1 N5 over a season with kills and clock jumps, 40 routines fire each time exactly once', () =>
  simulate(40, 90));

test('N1 N5 over a year with kills and clock jumps, 1,000 routines fire each time exactly once', async (t) => {
  if (!thorough) return t.skip('in npm run test:crash');
  await simulate(1_000, 365);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cron } from 'croner';
import { nextTime, nextTimes } from '../../../src/features/routines/due-times.ts';

const hour = 3_600_000;
const cron = (expression: string) => ({ kind: 'cron', expression }) as const;

/** Whose clocks change by an hour, by half an hour, in the other half of the year, at midnight, and never. */
const zones = ['Europe/Berlin', 'Australia/Lord_Howe', 'America/New_York', 'America/Santiago', 'Asia/Tokyo'];
/** Compared over a whole year; what comes more often, around the days when clocks change. */
const daily = ['30 2 * * *', '0 0 * * *', '0 9 * * 1-5', '45 23 L * *'];
const often = ['15 1,2,3 * * *', '0 */6 * * *', '*/20 * * * *'];
const changes = ['03-07', '03-28', '04-04', '09-05', '10-03', '10-24', '10-31'];

test('N1 due times are those of croner, over a year in five zones, and go only forward', () => {
  for (const timezone of zones) {
    for (const expression of [...daily, ...often]) {
      const direct = new Cron(expression, { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard' });
      const spans = often.includes(expression)
        ? changes.map((day) => [Date.parse(`2026-${day}`), 3] as const)
        : [[Date.UTC(2026, 0, 1), 365] as const];
      for (const [from, days] of spans) {
        for (let at = from; at < from + days * 24 * hour;) {
          const next = nextTime(cron(expression), timezone, at);
          const where = `${expression} ${timezone} ${new Date(at).toISOString()}`;
          assert.equal(next, direct.nextRun(new Date(at))?.getTime(), where);
          assert.ok(next !== undefined && next > at, where);
          at = next;
        }
      }
    }
  }
});

test('N1 each fixed time comes once a day of the calendar, also when the clocks change', () => {
  for (const zone of zones) {
    for (const expression of ['30 2 * * *', '0 0 * * *', '30 1 * * *']) {
      const times = nextTimes(cron(expression), zone, Date.UTC(2026, 0, 1, 12), 400);
      const days = times.map((at) => new Date(at).toLocaleDateString('sv', { timeZone: zone }));
      assert.equal(new Set(days).size, 400, `${expression} ${zone}`);
    }
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCrashStage } from '../support/crash/crash-stage.ts';
import { runKillPoints, type KillPoint } from '../support/crash/kill-points.ts';
import {
  accepting,
  answering,
  calling,
  cutOff,
  sending,
  tookUnheard,
  type Moment,
} from '../support/crash/moments.ts';
import { slackDm, slackThread, telegramDm } from '../support/crash/places.ts';
import { seededRandom } from '../support/crash/seeded-random.ts';
import { openStoreFor, storeNames, type StoreName } from '../support/crash/stores.ts';
import type { Tally } from '../support/crash/tally.ts';
import { thorough } from '../support/crash/thorough.ts';
import { noPostgres } from '../support/postgres.ts';

const chosen = (moments: readonly Moment[], store: StoreName): readonly Moment[] =>
  moments.filter(({ often }) => thorough || often === 'both' || often === store);

/** On PostgreSQL the next process has what a dead one held only after seconds: there all of it is waited for at the end. */
const waits = (store: StoreName): boolean => store === 'embedded';

function assertClean({ lost, givenUp, disordered, redone, uncounted, needless, ...counts }: Tally): void {
  assert.deepEqual(
    { lost, givenUp, disordered, redone, uncounted, needless },
    { lost: [], givenUp: [], disordered: [], redone: [], uncounted: [], needless: [] },
  );
  assert.equal(counts.accepted, counts.said);
}

for (const store of storeNames) {
  test(`Q1 Q5 Q6 Q7 on Telegram and the ${store} store, killed at named points of accepting, answering, calling tools and sending, nothing is lost or redone`, async (t) => {
    const opened = await openStoreFor(store);
    if (opened === undefined) return t.skip(noPostgres);
    t.after(opened.close);
    const stage = await openCrashStage({ ...opened.options, channels: ['telegram'] });
    t.after(() => stage.close());
    const mishaps = { random: seededRandom(1), twice: 0, edited: 0 };
    const points: readonly KillPoint[] = chosen(
      [...accepting, ...answering, ...calling, ...sending],
      store,
    ).map((moment) => ({
      ...moment,
      place: telegramDm(stage, moment.name, mishaps),
      // Telegram can't be asked: the one reply that was taken without our hearing of it comes again and is counted.
      copies: moment.name === tookUnheard ? 2 : 1,
    }));
    const { counts, copies, stored } = await runKillPoints(stage, points, { waits: waits(store) });
    assertClean(counts);
    // So is the one that was about to be sent.
    assert.equal(copies(tookUnheard), 2);
    if (waits(store)) assert.deepEqual([counts.repeated.length, stored.repeats.length], [1, 2]);
    // Each script either ran once, or its caller was told that nobody knows.
    const told = points.filter((_, index) => counts.interrupted.some((id) => id.includes(`_n${index + 1}_`)));
    assert.deepEqual(
      told.map(({ name }) => name),
      cutOff.filter((name) => points.some((point) => point.name === name)),
    );
  });

  test(`Q2 Q6 Q7 on Slack and the ${store} store, killed at the same points of accepting and sending, no reply comes twice`, async (t) => {
    if (store !== 'embedded' && !thorough) return t.skip('in npm run test:crash');
    const opened = await openStoreFor(store);
    if (opened === undefined) return t.skip(noPostgres);
    t.after(opened.close);
    const stage = await openCrashStage({ ...opened.options, channels: ['slack'] });
    t.after(() => stage.close());
    const points: KillPoint[] = [];
    for (const moment of chosen(accepting, store))
      points.push({ ...moment, place: await slackThread(stage, moment.name) });
    for (const moment of chosen(sending, store))
      points.push({ ...moment, place: slackDm(stage, moment.name) });
    const { counts, stored } = await runKillPoints(stage, points, { waits: waits(store) });
    assertClean(counts);
    assert.deepEqual(counts.repeated, []);
    // Looked up and not found: it was about to be sent, and that nobody else sent it is known only by asking.
    if (waits(store)) assert.equal(stored.repeats.length, 1);
  });
}

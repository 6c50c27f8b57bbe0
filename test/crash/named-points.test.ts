import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCrashStage, type CrashStage } from '../support/crash/crash-stage.ts';
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
import type { Tally } from '../support/crash/tally.ts';
import { thorough } from '../support/crash/thorough.ts';

const chosen = (moments: readonly Moment[]): readonly Moment[] =>
  moments.filter(({ often }) => thorough || often);

function assertClean({ lost, givenUp, disordered, redone, uncounted, needless, ...counts }: Tally): void {
  assert.deepEqual(
    { lost, givenUp, disordered, redone, uncounted, needless },
    { lost: [], givenUp: [], disordered: [], redone: [], uncounted: [], needless: [] },
  );
  assert.equal(counts.accepted, counts.said);
}

function onTelegram(stage: CrashStage, moments: readonly Moment[]): readonly KillPoint[] {
  const mishaps = { random: seededRandom(1), twice: 0, edited: 0 };
  return chosen(moments).map((moment) => ({ ...moment, place: telegramDm(stage, moment.name, mishaps) }));
}

test('Q1 Q5 Q6 Q7 on Telegram, killed at named points of accepting, answering, calling tools and sending, nothing is lost or redone', async (t) => {
  const stage = await openCrashStage({ channels: ['telegram'] });
  t.after(() => stage.close());
  const points = onTelegram(stage, [...accepting, ...answering, ...calling, ...sending]);
  const { counts, copies, stored } = await runKillPoints(stage, points);
  assertClean(counts);
  // The one reply that was taken without our hearing of it came again and is counted; so is the one that was about to be sent.
  assert.equal(copies(tookUnheard), 2);
  assert.equal(counts.repeated.length, 1);
  assert.equal(stored.repeats.length, 2);
  // Each script either ran once, or its caller was told that nobody knows.
  const told = points.filter((_, index) => counts.interrupted.some((id) => id.includes(`_n${index + 1}_`)));
  assert.deepEqual(
    told.map(({ name }) => name),
    cutOff.filter((name) => points.some((point) => point.name === name)),
  );
});

test('Q2 Q6 Q7 on Slack, killed at the same points of accepting and sending, no reply comes twice', async (t) => {
  const stage = await openCrashStage({ channels: ['slack'] });
  t.after(() => stage.close());
  const points: KillPoint[] = [];
  for (const moment of chosen(accepting))
    points.push({ ...moment, place: await slackThread(stage, moment.name) });
  for (const moment of chosen(sending)) points.push({ ...moment, place: slackDm(stage, moment.name) });
  const { counts, stored } = await runKillPoints(stage, points);
  assertClean(counts);
  assert.deepEqual(counts.repeated, []);
  // Looked up and not found: it was about to be sent, and that nobody else sent it is known only by asking.
  assert.equal(stored.repeats.length, 1);
});

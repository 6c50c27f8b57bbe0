import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { openCrashStage, type CrashStage } from './crash-stage.ts';
import { startLoad } from './load.ts';
import { slackDm, slackThread, telegramDm, telegramGroup, type Place } from './places.ts';
import { killAtRandom } from './random-kills.ts';
import { readRows, readStored } from './read-stored.ts';
import { seededRandom } from './seeded-random.ts';
import { tally, tallyLine, type Tally } from './tally.ts';

export type StormResult = Readonly<{
  line: string;
  counts: Tally;
  /** Where something broke: what was heard around it, and the rows of the store that name it. */
  about: readonly string[];
  kills: number;
  errors: readonly string[];
  clean: boolean;
}>;

/**
 * One crash run: load in several conversations of both platforms while `slots` processes are killed at random, until
 * everything is answered and `kills` were done; then the counting, by what people heard and by what the store holds.
 */
export async function storm(options: {
  /** For the table. */
  store: string;
  storeUrl?: string;
  seed: number;
  /** Messages; spread over the conversations. */
  messages: number;
  /** At least so many; `mostKills` after which it is left alone. */
  kills: number;
  mostKills?: number;
  deadlineMs: number;
  slots?: number;
  /** Makes lives so many times longer. */
  slower?: number;
  /** Conversations of each of the four kinds. */
  width?: number;
}): Promise<StormResult> {
  const {
    store,
    storeUrl,
    seed,
    messages,
    kills,
    mostKills,
    deadlineMs,
    slots = 1,
    slower = 1,
    width = 2,
  } = options;
  const began = performance.now();
  const random = seededRandom(seed);
  const stage = await openCrashStage(storeUrl === undefined ? {} : { storeUrl });
  try {
    stage.slack.knobs.duplicates = 1;
    // Long enough for kills to fall between a platform's taking and our hearing of it.
    stage.telegram.faults.add({ method: 'sendMessage', times: Infinity, lateMs: 30 });
    stage.slack.faults.always('chat.postMessage', { kind: 'late', ms: 30 });
    stage.slack.knobs.twins = random.pick(['message-first', 'mention-first', 'together']);
    const places = await openPlaces(stage, width, seed);
    const each = Math.ceil(messages / places.length);
    const load = startLoad(places, { each, ahead: 4, random: seededRandom(seed + 1) });
    const deadline = new AbortController();
    const late = delay(deadlineMs, undefined, { signal: deadline.signal }).then(
      () => deadline.abort(),
      () => undefined,
    );
    const done = Promise.race([load.done, late]);
    const {
      kills: killed,
      fell,
      left,
    } = await killAtRandom({
      start: (number) => stage.start({ number }),
      random,
      until: load.done,
      atLeast: kills,
      ...(mostKills === undefined ? {} : { atMost: mostKills }),
      deadline: deadline.signal,
      slots,
      slower,
    });
    await done;
    deadline.abort();
    const exits = await Promise.all(left.map((bot) => bot.stop()));
    const counts = tally(load.said, places, await readStored(stage.storeUrl), stage.model);
    const seconds = (performance.now() - began) / 1000;
    const odd = [...counts.lost, ...counts.disordered, ...counts.uncounted, ...counts.needless].map(
      (each) => each.split(' ')[0] ?? '',
    );
    return {
      line: tallyLine({ store, seed, kills: killed, seconds }, counts),
      counts,
      about: odd.length === 0 ? [] : [...heardAround(places, odd), ...(await readRows(stage.storeUrl, odd))],
      kills: killed,
      errors: [
        ...fell.map((exit) => `ended by itself: ${JSON.stringify(exit)}`),
        ...left.flatMap((bot) => bot.errors()),
      ],
      clean: exits.every(({ code }) => code === 0) && fell.length === 0,
    };
  } finally {
    await stage.close();
  }
}

async function openPlaces(stage: CrashStage, width: number, seed: number): Promise<readonly Place[]> {
  const mishaps = { random: seededRandom(seed + 2), twice: 0.1, edited: 0.1 };
  const places: Place[] = [];
  for (let n = 0; n < width; n++) {
    places.push(
      telegramDm(stage, `dm ${n}`, mishaps),
      telegramGroup(stage, `group ${n}`, mishaps),
      slackDm(stage, `slack-dm-${n}`),
      await slackThread(stage, `thread-${n}`),
    );
  }
  return places;
}

function heardAround(places: readonly Place[], tokens: readonly string[]): readonly string[] {
  const named = new RegExp(`\\b(?:${tokens.join('|')})\\b`);
  return places.flatMap((place) => {
    const heard = place.heard();
    const at = heard.flatMap((text, index) => (named.test(text) ? [index] : []));
    const near = heard.filter((_, index) => at.some((each) => Math.abs(each - index) <= 4));
    return near.length === 0 ? [] : [`heard in ${place.name}: ${JSON.stringify(near)}`];
  });
}

/** Nothing lost, nothing out of order, no finished call made again, no reply twice that the platform or the outbox does not excuse. */
export function assertNothingBroke({ counts, about, clean, errors, line }: StormResult): void {
  if (about.length > 0) process.stderr.write(`${about.join('\n')}\n`);
  const { lost, disordered, redone, uncounted, needless } = counts;
  assert.deepEqual(
    { lost, disordered, redone, uncounted, needless },
    { lost: [], disordered: [], redone: [], uncounted: [], needless: [] },
    [line, ...errors].join('\n'),
  );
  // A few may die three times without getting anywhere (Q3); many would be another fault.
  assert.ok(counts.givenUp.length <= Math.max(1, counts.said / 100), `too many were given up: ${line}`);
  assert.equal(counts.accepted, counts.said, 'the platform could not hand everything over');
  assert.ok(clean, `a process ended by itself: ${errors.join('\n')}`);
}

import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { BotProcess, Preload } from './bot-process.ts';
import type { CrashStage } from './crash-stage.ts';
import { answered, type Said } from './load.ts';
import type { Accepted, Place } from './places.ts';
import { readStored, type StoredFacts } from './read-stored.ts';
import { tally, type Tally } from './tally.ts';

/** A statement of the database at which the process kills itself (`kill-at.ts`). */
export type KillAt = Readonly<{ at: string; when: 'before' | 'after' | 'committed'; nth?: number }>;

/** One thing said, and where the process that answers it dies. */
export type KillPoint = Readonly<{
  name: string;
  /** `$` stands for the token. */
  say: string;
  place: Place;
  kill(of: Readonly<{ chat: string; token: string }>): KillAt;
  /** How often the answer comes, and is waited for. */
  copies?: number;
}>;

export function killingAt(kill: KillAt): Preload {
  return { file: 'kill-at.ts', env: { SKILLET_KILL_AT: JSON.stringify(kill) } };
}

/** Resolves when a process has killed itself; fails when it lives on for `patienceMs`, or ended in another way. */
export async function hasKilledItself(bot: BotProcess, name: string, patienceMs = 240_000): Promise<void> {
  const late = delay(patienceMs, undefined, { ref: false });
  const exit = await Promise.race([bot.exited, late]);
  assert.ok(exit !== undefined, `${name}: the process never came to that point\n${bot.errors().join('\n')}`);
  assert.equal(exit.signal, 'SIGKILL', `${name}: ${bot.errors().join('\n')}`);
}

/** Resolves when the bot said this in a place. */
export async function untilHeard(place: Place, matches: (text: string) => boolean): Promise<void> {
  while (!place.heard().some(matches)) await place.more();
}

/**
 * Kills a process at each point in turn; with `waits` the next one, which is to die at the next point, first answers what
 * the last one left. At the end everything is counted.
 */
export async function runKillPoints(
  stage: CrashStage,
  points: readonly KillPoint[],
  { waits }: Readonly<{ waits: boolean }>,
): Promise<Readonly<{ counts: Tally; stored: StoredFacts; copies(name: string): number }>> {
  const said: Said[] = [];
  const untilAnswered = async ({ token, place }: Said, index: number): Promise<void> => {
    while (copiesOf(place, token) < (points[index]?.copies ?? 1)) await place.more();
  };
  for (const [index, point] of points.entries()) {
    const { place, name } = point;
    const token = `n${index + 1}`;
    const bot = stage.start({ preload: killingAt(point.kill({ chat: place.chat, token })) });
    const before = said.at(-1);
    if (waits && before) {
      await Promise.race([bot.exited, untilAnswered(before, index - 1)]);
      await untilNoted(stage, bot);
    }
    const entry = { token, place, text: point.say.replace('$', token), accepted: (): boolean => false };
    said.push(entry);
    void place.say(entry.text).then((accepted: Accepted) => (entry.accepted = accepted));
    await hasKilledItself(bot, name);
  }
  const last = stage.start();
  for (const [index, each] of said.entries()) await untilAnswered(each, index);
  assert.deepEqual(await last.stop(), { code: 0, signal: null });
  const stored = await readStored(stage.storeUrl);
  const places = [...new Set(points.map(({ place }) => place))];
  return {
    counts: tally(said, places, stored, stage.model),
    stored,
    copies(name) {
      const { token, place } = said[points.findIndex((point) => point.name === name)] as Said;
      return copiesOf(place, token);
    },
  };
}

/** Resolves when the store holds that everything was sent: a process that dies earlier has it sent again. */
async function untilNoted({ storeUrl }: CrashStage, bot: BotProcess): Promise<void> {
  while (!bot.ended() && (await readStored(storeUrl)).unsent > 0) await delay(10);
}

function copiesOf(place: Place, token: string): number {
  return place.heard().filter((text) => answered(text).includes(token)).length;
}

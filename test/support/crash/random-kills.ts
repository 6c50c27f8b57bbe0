import { setTimeout as delay } from 'node:timers/promises';
import type { BotProcess, Exit } from './bot-process.ts';
import type { Random } from './seeded-random.ts';

export type Kills = Readonly<{
  kills: number;
  /** Ends that nobody asked for. */
  fell: readonly Exit[];
  /** What still runs: one process a slot, not to be killed any more. */
  left: readonly BotProcess[];
}>;

/** What a start takes where nothing else is done: where it takes longer, so does everything, and lives are as much longer. */
const usualStartMs = 700;

/**
 * Keeps `slots` processes alive and kills each with SIGKILL 50 to 400 ms after it was ready (every fifth later, so that
 * scripts come to an end, too), or, every sixth time, while it starts; the next one is started at once. Ends when `until`
 * resolves and at least `atLeast` were killed, or at the deadline.
 */
export async function killAtRandom(options: {
  start(slot: number): BotProcess;
  random: Random;
  until: Promise<unknown>;
  atLeast: number;
  /** No more kills after so many. */
  atMost?: number;
  deadline: AbortSignal;
  slots?: number;
  /** Makes lives so many times longer. */
  slower?: number;
}): Promise<Kills> {
  const { start, random, until, atLeast, atMost = Infinity, deadline, slots = 1, slower = 1 } = options;
  const fell: Exit[] = [];
  let kills = 0;
  let over = false;
  void until.then(
    () => (over = true),
    () => (over = true),
  );
  const enough = (): boolean => deadline.aborted || kills >= atMost || (over && kills >= atLeast);

  async function keepKilling(slot: number): Promise<BotProcess> {
    let startMs = 500;
    for (;;) {
      const began = performance.now();
      const bot = start(slot);
      if (random.chance(1 / 6)) await Promise.race([bot.exited, delay(random.whole(0, Math.round(startMs)))]);
      else {
        if (await bot.ready) startMs = performance.now() - began;
        const lifeMs = random.chance(0.2) ? random.whole(400, 4_000) : random.whole(50, 400);
        const machine = Math.max(1, startMs / usualStartMs);
        await Promise.race([bot.exited, until, delay(lifeMs * slower * machine)]);
      }
      if (bot.ended()) fell.push(await bot.exited);
      else if (enough()) return bot;
      else {
        await bot.kill();
        kills += 1;
      }
    }
  }

  const left = await Promise.all(Array.from({ length: slots }, (_, slot) => keepKilling(slot)));
  return { kills, fell, left };
}

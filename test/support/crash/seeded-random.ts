/** Numbers from 0 to below 1 that the seed alone decides (mulberry32), so that a run can be made again. */
export type Random = Readonly<{
  next(): number;
  /** A whole number from `from` to `to`, both included. */
  whole(from: number, to: number): number;
  pick<T>(items: readonly T[]): T;
  /** True in this share of calls. */
  chance(share: number): boolean;
}>;

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    whole: (from, to) => from + Math.floor(next() * (to - from + 1)),
    pick(items) {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
    chance: (share) => next() < share,
  };
}

/** `SKILLET_SEED`, or one drawn by the clock; whoever uses it prints it. */
export function seedFromEnv(): number {
  return Number(process.env['SKILLET_SEED'] ?? Date.now() % 1_000_000);
}

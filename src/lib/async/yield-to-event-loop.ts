import { setImmediate as nextTurn } from 'node:timers/promises';

/** Awaited in a long loop: lets other work go first once `sliceMs` have passed, so that reading many files never holds up the bot (B6). */
export function createGiveWay(sliceMs = 8): () => Promise<void> | undefined {
  let started = performance.now();
  return () => {
    if (performance.now() - started < sliceMs) return undefined;
    return nextTurn().then(() => {
      started = performance.now();
    });
  };
}

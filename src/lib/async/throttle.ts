import type { Clock } from '../clock.ts';

const mostKeys = 10_000;

/** True at most once in `everyMs` for each key, so that whoever is refused can't fill the disk. Forgets when the process ends. */
export function createSeldom(everyMs: number, clock: Clock): (key: string) => boolean {
  const seen = new Map<string, number>();
  return (key) => {
    const now = clock.now();
    if (now - (seen.get(key) ?? -Infinity) < everyMs) return false;
    if (seen.size >= mostKeys) seen.clear();
    seen.set(key, now);
    return true;
  };
}

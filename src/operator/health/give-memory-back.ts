import type { Clock } from '../../lib/clock.ts';

/** What a process holds, how busy it is, and how it tidies up. */
export type Memory = Readonly<{
  /** Resident bytes. */
  resident(): number;
  /** Share of the time since the last call in which the event loop was at work, 0 to 1. */
  busy(): number;
  /** Gives back all it can, while everything else waits: a quarter of a second of processor time, half of it on the clock. */
  tidy(): void;
}>;

const lookMs = 2_000;
const quiet = 0.05;
const worthBytes = 8 * 1024 * 1024;

/**
 * Gives back to the system what starting and busy times left behind, once hardly anything has been going on for 2 s, until
 * the signal is aborted (B4). V8 by itself waits for work that allocates, and a bot that mostly waits gives it none: some
 * 10 MB would stay. Tidies only where the process has grown by 8 MB since the last time.
 */
export async function giveMemoryBack(
  { resident, busy, tidy }: Memory,
  { clock, signal }: Readonly<{ clock: Clock; signal: AbortSignal }>,
): Promise<void> {
  let least = 0;
  while (!signal.aborted) {
    await clock.sleep(lookMs, signal).catch(() => undefined);
    if (busy() > quiet || resident() < least + worthBytes || signal.aborted) continue;
    tidy();
    least = resident();
  }
}

/** The memory of this process; undefined if node was not started with `--expose-gc`. */
export function memoryHere(): Memory | undefined {
  const { gc } = globalThis;
  if (gc === undefined) return undefined;
  let last = performance.eventLoopUtilization();
  return {
    resident: () => process.memoryUsage.rss(),
    busy() {
      const before = last;
      last = performance.eventLoopUtilization();
      return performance.eventLoopUtilization(last, before).utilization;
    },
    tidy: () => gc({ type: 'major', flavor: 'last-resort' }),
  };
}

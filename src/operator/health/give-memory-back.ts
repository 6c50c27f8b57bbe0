import type { Clock } from '../../lib/clock.ts';

type Memory = Readonly<{
  /** How many bytes of memory the process has. */
  resident(): number;
  /** How busy the event loop was since the last call, from 0 to 1. */
  busy(): number;
  /** Collects garbage, which blocks for a quarter of a second. */
  tidy(): void;
}>;

const lookMs = 2_000;
const quiet = 0.05;
const worthBytes = 8 * 1024 * 1024;

/**
 * Returns memory to the system after 2 quiet seconds, if 8 MB came in addition (B4). V8 by itself waits for
 * allocations, so some 10 MB would stay.
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

/** The memory of this process. Undefined without `--expose-gc`. */
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

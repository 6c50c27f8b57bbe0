import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';

/** Looks for work when woken, and at the time that the last look returned. Only one look runs at a time. */
type Scheduler = Readonly<{
  /** Looks now; during a look, once more after it. */
  wake(): void;
  looked(): Promise<void>;
  stop(): void;
}>;

const afterFaultMs = 1_000;

export function createScheduler(options: {
  /** Starts work that is due. Returns when the next is due, in milliseconds since 1970. */
  look(): Promise<number | undefined>;
  /** What it looks at, for the log: `the inbox`. */
  what: string;
  clock: Clock;
  log: Log;
}): Scheduler {
  const { look, what, clock, log } = options;
  let looking: Promise<void> | undefined;
  let reading = false;
  let again = false;
  let stopped = false;
  let failing = false;
  let alarm: Readonly<{ at: number | undefined; abort: AbortController }> = {
    at: undefined,
    abort: new AbortController(),
  };

  function wake(): void {
    if (stopped) return;
    if (looking !== undefined) {
      again ||= reading;
      return;
    }
    again = false;
    looking = lookSoon().finally(() => {
      looking = undefined;
      reading = false;
      if (again) wake();
    });
  }

  async function lookSoon(): Promise<void> {
    await setImmediate();
    reading = true;
    if (!stopped) await lookOnce();
  }

  async function lookOnce(): Promise<void> {
    try {
      const nextAt = await look();
      failing = false;
      if (nextAt !== undefined) wakeAt(nextAt);
    } catch (error) {
      // Logged once for a series of failures, because it may last hours.
      if (!failing) log.error({ err: error }, `${what} could not be read; trying again every second`);
      failing = true;
      wakeAt(clock.now() + afterFaultMs);
    }
  }

  function wakeAt(at: number): void {
    // Looking early does no harm and is cheaper than resetting the timer.
    if (alarm.at !== undefined && alarm.at <= at) return;
    alarm.abort.abort();
    const abort = new AbortController();
    alarm = { at, abort };
    const ring = (): void => {
      alarm = { at: undefined, abort };
      wake();
    };
    clock.sleep(Math.max(0, at - clock.now()), abort.signal).then(ring, () => undefined);
  }

  return {
    wake,
    async looked() {
      while (looking !== undefined) await looking;
    },
    stop() {
      stopped = true;
      alarm.abort.abort();
    },
  };
}

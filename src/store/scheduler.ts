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
  const alarm = createAlarm(clock, wake);

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
      if (nextAt !== undefined) alarm.setAtLatest(nextAt);
    } catch (error) {
      // Logged once for a series of failures, because it may last hours.
      if (!failing) log.error({ err: error }, `${what} could not be read; trying again every second`);
      failing = true;
      alarm.setAtLatest(clock.now() + afterFaultMs);
    }
  }

  return {
    wake,
    async looked() {
      while (looking !== undefined) await looking;
    },
    stop() {
      stopped = true;
      alarm.stop();
    },
  };
}

/** Rings once at the earliest time that was set since it rang last. */
function createAlarm(
  clock: Clock,
  ring: () => void,
): Readonly<{ setAtLatest(at: number): void; stop(): void }> {
  let set: Readonly<{ at: number | undefined; abort: AbortController }> = {
    at: undefined,
    abort: new AbortController(),
  };
  return {
    setAtLatest(at) {
      // Ringing early does no harm and is cheaper than resetting the timer.
      if (set.at !== undefined && set.at <= at) return;
      set.abort.abort();
      const abort = new AbortController();
      set = { at, abort };
      const rings = (): void => {
        set = { at: undefined, abort };
        ring();
      };
      clock.sleep(Math.max(0, at - clock.now()), abort.signal).then(rings, () => undefined);
    },
    stop: () => set.abort.abort(),
  };
}

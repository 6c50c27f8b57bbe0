import type { Placeholder, Receipt } from '../core/channel.ts';
import type { Clock } from '../core/clock.ts';
import { SendError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';

/** How a platform writes the message that a line stands in. All of them throw SendError. */
export type LineCalls = Readonly<{
  /** Whether a courtesy may go now; it is counted then (H8). */
  mayGo(what: 'post' | 'edit'): boolean;
  post(text: string): Promise<Receipt>;
  edit(receipt: Receipt, text: string): Promise<void>;
  remove(receipt: Receipt): Promise<void>;
}>;

/** A line that stands in a message of its own and changes at the platform's pace (H6, H7). */
export type PlaceholderLine = Readonly<{
  /** Wishes for this text to be shown; the newest wish counts. */
  write(text: string): void;
  /** Writes nothing more: resolves when no call is under way. The message stays. */
  end(): Promise<void>;
}>;

const afterFaultMs = 5_000;

/** A message that might stand there already is never posted a second time: where that is not known, the line is given up. */
export function createPlaceholderLine(options: {
  placeholder: Placeholder;
  calls: LineCalls;
  /** Shortest time between two calls, in milliseconds. */
  everyMs: number;
  clock: Clock;
  log: Log;
}): PlaceholderLine {
  const { placeholder, calls, everyMs, clock, log } = options;
  const over = new AbortController();
  let wanted = '';
  let shown = '';
  let nextAt = 0;
  let busy = false;
  let working = Promise.resolve();

  async function work(): Promise<void> {
    busy = true;
    try {
      while (!over.signal.aborted && wanted !== shown) {
        const now = clock.now();
        if (now < nextAt) await clock.sleep(nextAt - now, over.signal);
        else await step(wanted);
      }
    } catch (reason) {
      // Nothing but the sleep that `end` cuts short may fail.
      if (!over.signal.aborted) throw reason;
    } finally {
      busy = false;
    }
  }

  /** One call, and when the next one may be made. */
  async function step(text: string): Promise<void> {
    nextAt = clock.now() + everyMs;
    try {
      const before = await placeholder.posted();
      if (over.signal.aborted || !calls.mayGo(before === undefined ? 'post' : 'edit')) return;
      if (before === undefined) await post(text);
      else await calls.edit(before, text);
      shown = text;
    } catch (error) {
      log.debug({ err: error, work: placeholder.key }, 'the status line could not be shown');
      nextAt = clock.now() + ((error instanceof SendError ? error.retryAfterMs : undefined) ?? afterFaultMs);
      if (error instanceof SendError && error.outcome === 'refused') over.abort();
    }
  }

  async function post(text: string): Promise<void> {
    const receipt = await calls.post(text).catch((error: unknown) => {
      if (!(error instanceof SendError) || error.outcome === 'unknown') over.abort();
      throw error;
    });
    try {
      await placeholder.keep(receipt);
    } catch (error) {
      // Nobody would know of it after a restart, or another process does the work by now.
      over.abort();
      await calls.remove(receipt);
      throw error;
    }
  }

  return {
    write(text) {
      if (over.signal.aborted) return;
      wanted = text;
      if (!busy) working = work();
    },
    async end() {
      over.abort();
      await working;
    },
  };
}

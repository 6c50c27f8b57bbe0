import type { Placeholder, Receipt } from '../core/channel.ts';
import type { Clock } from '../lib/clock.ts';
import { SendError } from '../core/errors.ts';
import type { Log } from '../lib/log.ts';

export type Wish = Readonly<{ kind: 'line'; text: string } | { kind: 'words'; markdown: string }>;

/** All throw SendError. */
type LineCalls = Readonly<{
  /** Counts a use (H8). */
  mayGo(what: 'post' | 'edit'): boolean;
  post(wish: Wish): Promise<Receipt>;
  edit(receipt: Receipt, wish: Wish): Promise<void>;
  remove(receipt: Receipt): Promise<void>;
}>;

/** Changes at the platform's pace (H6, H7). Words after a line get a new message, which rings; a line takes the message of words. */
export type PlaceholderLine = Readonly<{
  /** The newest counts. */
  write(wish: Wish): void;
  /** Resolves when no call is under way. The message stays. */
  end(): Promise<void>;
}>;

const afterFaultMs = 5_000;

/** If it is unknown whether a message was posted, the line is given up. */
export function createPlaceholderLine(options: {
  placeholder: Placeholder;
  calls: LineCalls;
  everyMs: number;
  clock: Clock;
  log: Log;
}): PlaceholderLine {
  const { placeholder, calls, everyMs, clock, log } = options;
  const over = new AbortController();
  let wanted: Wish | undefined;
  let shown: Wish | undefined;
  let nextAt = 0;
  let busy = false;
  let working = Promise.resolve();

  async function work(): Promise<void> {
    busy = true;
    try {
      while (!over.signal.aborted && !isSame(wanted, shown)) {
        const now = clock.now();
        if (now < nextAt) await clock.sleep(nextAt - now, over.signal);
        else if (wanted !== undefined) await step(wanted);
      }
    } catch (reason) {
      if (!over.signal.aborted) throw reason;
    } finally {
      busy = false;
    }
  }

  async function step(wish: Wish): Promise<void> {
    nextAt = clock.now() + everyMs;
    try {
      const before = await placeholder.posted();
      if (over.signal.aborted || !calls.mayGo(before === undefined ? 'post' : 'edit')) return;
      if (before === undefined) await post(wish);
      else if (wish.kind === 'words' && before.silent === true) await replace(before, wish);
      else await change(before, wish);
      shown = wish;
    } catch (error) {
      log.debug({ err: error, work: placeholder.key }, 'what shows the work could not be shown');
      nextAt = clock.now() + ((error instanceof SendError ? error.retryAfterMs : undefined) ?? afterFaultMs);
      if (error instanceof SendError && error.outcome === 'refused') over.abort();
    }
  }

  async function post(wish: Wish): Promise<void> {
    const receipt = await calls.post(wish).catch((error: unknown) => {
      if (!(error instanceof SendError) || error.outcome === 'unknown') over.abort();
      throw error;
    });
    try {
      await placeholder.keep(wish.kind === 'line' ? { ...receipt, silent: true } : receipt);
    } catch (error) {
      // Another process does the work by now, or a restart would not know the message.
      over.abort();
      await calls.remove(receipt);
      throw error;
    }
  }

  async function replace(line: Receipt, words: Wish): Promise<void> {
    await calls.remove(line);
    await placeholder.keep(undefined);
    await post(words);
  }

  async function change(before: Receipt, wish: Wish): Promise<void> {
    // First: an answer is never an edit of a line.
    if (wish.kind === 'line' && before.silent !== true) await placeholder.keep({ ...before, silent: true });
    await calls.edit(before, wish);
  }

  return {
    write(wish) {
      if (over.signal.aborted) return;
      wanted = wish;
      if (!busy) working = work();
    },
    async end() {
      over.abort();
      await working;
    },
  };
}

function isSame(one: Wish | undefined, other: Wish | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

import type { ChatStatus, Placeholder, Receipt } from '../core/channel.ts';
import type { Clock } from '../lib/clock.ts';
import { SendError } from '../core/errors.ts';
import type { Log } from '../lib/log.ts';

export type Wish = Exclude<ChatStatus, { kind: 'typing' }>;

/** What the platform would get for a wish. `same` is equal for wishes that look the same. */
export type Written = Readonly<{ wish: Wish; same: string }>;

/** The calls that change the message. All but `write` throw SendError. */
type LineCalls<Sent extends Written> = Readonly<{
  write(wish: Wish): Sent;
  /** Whether the rate limit allows one now, which it then counts (H8). */
  mayGo(what: 'post' | 'edit'): boolean;
  post(sent: Sent): Promise<Receipt>;
  edit(receipt: Receipt, sent: Sent): Promise<void>;
  remove(receipt: Receipt): Promise<void>;
}>;

/**
 * Changes the message at the platform's pace (H6, H7), and never to what it already shows. Words after a line come as a
 * new message, which notifies; a line takes the place of words in their message.
 */
export type PlaceholderLine = Readonly<{
  /** Sets what to show. Only the newest wish counts. */
  write(wish: Wish): void;
  /** Resolves once no call is running. The message stays. */
  end(): Promise<void>;
}>;

const afterFaultMs = 5_000;
/** The share of the time that writing previews may take. */
const share = 0.1;

/** Shows progress in one message. If it is unknown whether that was posted, nothing more is shown. */
export function createPlaceholderLine<Sent extends Written>(options: {
  placeholder: Placeholder;
  calls: LineCalls<Sent>;
  everyMs: number;
  clock: Clock;
  log: Log;
}): PlaceholderLine {
  const { placeholder, calls, everyMs, clock, log } = options;
  const over = new AbortController();
  let wanted: Wish | undefined;
  let done: Wish | undefined;
  let shown: string | undefined;
  let nextAt = 0;
  let busy = false;
  let working = Promise.resolve();

  async function work(): Promise<void> {
    busy = true;
    try {
      while (!over.signal.aborted && !isSame(wanted, done)) {
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
    const began = clock.now();
    const sent = calls.write(wish);
    const now = clock.now();
    nextAt = now + Math.max(everyMs, (now - began) / share);
    try {
      const before = await placeholder.posted();
      if (over.signal.aborted) return;
      if (before === undefined || sent.same !== shown) {
        if (!calls.mayGo(before === undefined ? 'post' : 'edit')) return;
        if (before === undefined) await post(sent);
        else if (wish.kind === 'words' && wish.plan === undefined && before.silent === true)
          await replace(before, sent);
        else await change(before, sent);
      }
      shown = sent.same;
      done = wish;
    } catch (error) {
      log.debug({ err: error, work: placeholder.key }, 'what shows the work could not be shown');
      nextAt = clock.now() + ((error instanceof SendError ? error.retryAfterMs : undefined) ?? afterFaultMs);
      if (error instanceof SendError && error.outcome === 'refused') over.abort();
    }
  }

  async function post(sent: Sent): Promise<void> {
    const receipt = await calls.post(sent).catch((error: unknown) => {
      if (!(error instanceof SendError) || error.outcome === 'unknown') over.abort();
      throw error;
    });
    try {
      await placeholder.keep(isSilent(sent.wish) ? silently(receipt, sent.wish) : receipt);
    } catch (error) {
      // Another process does the work by now, or a restart would not know the message.
      over.abort();
      await calls.remove(receipt);
      throw error;
    }
  }

  async function replace(line: Receipt, words: Sent): Promise<void> {
    await calls.remove(line);
    await placeholder.keep(undefined);
    await post(words);
  }

  async function change(before: Receipt, sent: Sent): Promise<void> {
    const { wish } = sent;
    // Stored first, because an answer never becomes an edit of a line.
    if (isSilent(wish) && (before.silent !== true || (before.plan === undefined && wish.plan !== undefined)))
      await placeholder.keep(silently(before, wish));
    await calls.edit(before, sent);
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

/** Whether the message shows work, also if words of the answer stand below it. */
function isSilent({ kind, plan }: Wish): boolean {
  return kind === 'line' || plan !== undefined;
}

function silently(receipt: Receipt, { plan }: Wish): Receipt {
  return plan === undefined ? { ...receipt, silent: true } : { ...receipt, silent: true, plan };
}

function isSame(one: Wish | undefined, other: Wish | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

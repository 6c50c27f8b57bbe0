import type { Update } from 'grammy/types';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createTroubleLog } from '../trouble-log.ts';
import type { TakeUpdates } from './take-updates.ts';
import { TelegramFault, type TelegramApi } from './telegram-api.ts';
import { wantedUpdates } from './to-event.ts';

/** How long Telegram keeps an idle poll open. */
const pollSeconds = 30;
/** Asking for more takes 0.3 ms of the processor: what has come is started first. */
const beginMs = 5;
const shortestPauseMs = 1000;
const longestPauseMs = 30_000;
/** 409: somebody else polls, and may be gone soon. */
const electionPauseMs = 5000;

/**
 * Polls while it leads, and moves the offset only past what was taken (Q1, Q9). No answer of Telegram ends it. `stop`
 * resolves when the update under way is acknowledged.
 */
export function pollUpdates(options: {
  api: TelegramApi;
  updates: TakeUpdates;
  /** Resolves when this process polls, with a signal that is aborted when it no longer does. */
  lead(until: AbortSignal): Promise<AbortSignal>;
  clock: Clock;
  log: Log;
}): Readonly<{ stop(): Promise<void> }> {
  const { api, updates, lead, clock, log } = options;
  const stopping = new AbortController();
  const trouble = createTroubleLog(log);
  const running = run();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const term = new AbortController();
      const giveUp = (): void => term.abort(stopping.signal.reason);
      stopping.signal.addEventListener('abort', giveUp);
      try {
        const leading = await lead(term.signal);
        // From here on, what was taken is acknowledged before the term ends.
        stopping.signal.removeEventListener('abort', giveUp);
        await poll(leading, AbortSignal.any([stopping.signal, leading]));
        if (!stopping.signal.aborted) log.warn({}, 'another process may take the updates of this bot now');
      } catch (error) {
        if (stopping.signal.aborted) break;
        trouble.failed(
          error,
          {},
          'who takes the updates of this bot could not be settled; trying again',
          'error',
        );
        await pause(electionPauseMs, stopping.signal);
      } finally {
        stopping.signal.removeEventListener('abort', giveUp);
        term.abort();
      }
    }
  }

  /** One term. What was taken and not acknowledged comes again to the next poller. */
  async function poll(leading: AbortSignal, signal: AbortSignal): Promise<void> {
    let isOurs = false;
    // Update ids may restart lower after a quiet week, so the offset lives only from an acknowledgement to the answer
    // that confirms it.
    let offset: number | undefined;
    let told: number | undefined;
    let failures = 0;
    while (!signal.aborted) {
      try {
        if (!isOurs) await api.deleteWebhook({ drop_pending_updates: false });
        isOurs = true;
        told = offset;
        const batch = await api.getUpdates(
          { ...withOffset(offset), limit: 100, timeout: pollSeconds, allowed_updates: wantedUpdates },
          signal as Parameters<TelegramApi['getUpdates']>[1],
        );
        trouble.over();
        if (batch.length === 0) offset = undefined;
        const { next, failed } = await takeAll(batch, offset, signal);
        offset = next;
        failures = failed ? failures + 1 : 0;
        if (failed) await pause(backOff(failures), signal);
        else if (batch.length > 0) await pause(beginMs, signal);
      } catch (error) {
        if (signal.aborted) break;
        failures += 1;
        await pause(pauseAfter(error, failures), signal);
      }
    }
    // It would cut off another poller by now.
    if (offset !== undefined && offset !== told && !leading.aborted) await confirm(offset);
  }

  /**
   * Updates of a chat in order, chats side by side. What follows the first that could not be stored is asked for
   * again.
   */
  async function takeAll(
    batch: readonly Update[],
    offset: number | undefined,
    signal: AbortSignal,
  ): Promise<Readonly<{ next: number | undefined; failed: boolean }>> {
    updates.foresee(batch);
    const chats = new Map<string, Promise<void>>();
    const taken = batch.map((update) => {
      const chat = chatOf(update);
      const before = chats.get(chat) ?? Promise.resolve();
      const one = before.then(() => {
        signal.throwIfAborted();
        return updates.take(update);
      });
      chats.set(chat, one);
      return one;
    });
    let next = offset;
    for (const [place, outcome] of (await Promise.allSettled(taken)).entries()) {
      const id = batch[place]?.update_id ?? 0;
      if (outcome.status === 'fulfilled') next = id + 1;
      else {
        if (signal.aborted) return { next, failed: false };
        log.error(
          { update: id, err: outcome.reason as unknown },
          'an update could not be stored; it is asked for again',
        );
        return { next, failed: true };
      }
    }
    return { next, failed: false };
  }

  function pauseAfter(error: unknown, failures: number): number {
    const fault = error instanceof TelegramFault ? error : undefined;
    if (fault?.code === 409) {
      trouble.failed(error, {}, 'another process takes the updates of this bot; waiting to take over');
      return electionPauseMs;
    }
    if (fault?.code === 401 || fault?.code === 404) {
      trouble.failed(
        error,
        {},
        'Telegram does not know this token any more: get a new one from @BotFather',
        'error',
      );
      return longestPauseMs;
    }
    const wait = Math.max(fault?.retryAfterMs ?? 0, backOff(failures));
    trouble.failed(error, { waitMs: wait }, 'Telegram gave no updates; asking again');
    return wait;
  }

  async function pause(ms: number, signal: AbortSignal): Promise<void> {
    await clock.sleep(ms, signal).catch((reason: unknown) => {
      if (!signal.aborted) throw reason;
    });
  }

  /** So that it does not come again after a restart. */
  async function confirm(offset: number): Promise<void> {
    try {
      await api.getUpdates({ offset, limit: 1, timeout: 0 });
    } catch (error) {
      log.debug({ err: error }, 'the last updates could not be acknowledged; they will come again');
    }
  }

  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function withOffset(offset: number | undefined): { offset?: number } {
  return offset === undefined ? {} : { offset };
}

function backOff(failures: number): number {
  return Math.min(longestPauseMs, shortestPauseMs * 2 ** (failures - 1));
}

function chatOf(update: Update): string {
  const said: Readonly<{ chat?: Readonly<{ id: number }> }> | undefined =
    update.message ??
    update.edited_message ??
    update.channel_post ??
    update.edited_channel_post ??
    update.callback_query?.message ??
    update.my_chat_member;
  return String(said?.chat?.id ?? '');
}

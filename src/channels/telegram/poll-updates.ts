import { Context, type Bot } from 'grammy';
import type { Update } from 'grammy/types';
import { pause, type Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { createTroubleLog, type TroubleLog } from '../trouble-log.ts';
import type { TelegramListening } from './listen.ts';
import { TelegramFault, thrownBy, type TelegramApi } from './telegram-api.ts';
import type { wantedKinds } from './to-event.ts';
import { onAbort } from '../../lib/async/on-abort.ts';

/** Seconds for which Telegram keeps an idle poll open. */
const pollSeconds = 30;
/** Milliseconds between a batch and the next poll, because each poll takes 0.3 ms of the processor. */
const beginMs = 5;
const shortestPauseMs = 1000;
const longestPauseMs = 30_000;
/** Milliseconds to wait after a 409: another process polls, which may be gone soon. */
const electionPauseMs = 5000;

/**
 * Polls for updates. The offset moves only past stored updates (Q1, Q9). `stop` resolves once the running update is
 * acknowledged.
 */
export function pollUpdates(deps: PollDeps): Readonly<{ stop(): Promise<void> }> {
  const stopping = new AbortController();
  const running = run({ ...deps, trouble: createTroubleLog(deps.log) }, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

type PollDeps = Readonly<{
  bot: Bot;
  foresee: TelegramListening['foresee'];
  wanted: ReturnType<typeof wantedKinds>;
  /** Resolves when this process is the one that polls. The signal aborts when it no longer is. */
  lead(until: AbortSignal): Promise<AbortSignal>;
  clock: Clock;
  log: Log;
}>;

type Poller = PollDeps & Readonly<{ trouble: TroubleLog }>;

async function run(poller: Poller, stopping: AbortSignal): Promise<void> {
  const { lead, trouble, clock, log } = poller;
  while (!stopping.aborted) {
    const term = new AbortController();
    const stopListening = onAbort(stopping, () => term.abort(stopping.reason));
    try {
      const leading = await lead(term.signal);
      // From here on the term ends by acknowledging.
      stopListening();
      await poll(poller, leading, AbortSignal.any([stopping, leading]));
      if (!stopping.aborted) log.warn({}, 'another process may be polling with the token of this bot');
    } catch (error) {
      if (stopping.aborted) break;
      const message = 'who takes the updates of this bot could not be settled; trying again';
      trouble.failed(error, {}, message, 'error');
      await pause(clock, electionPauseMs, stopping);
    } finally {
      stopListening();
      term.abort();
    }
  }
}

/** Polls while this process leads. Updates that are not acknowledged go to the next one. */
async function poll(poller: Poller, leading: AbortSignal, signal: AbortSignal): Promise<void> {
  const { bot, trouble, clock, log } = poller;
  const api = bot.api.raw;
  let isOurs = false;
  // Ids may begin lower again after a quiet week, so the answer confirms the offset.
  let offset: number | undefined;
  let told: number | undefined;
  let failures = 0;
  while (!signal.aborted) {
    try {
      if (!isOurs) await api.deleteWebhook({ drop_pending_updates: false });
      isOurs = true;
      told = offset;
      const batch = await api.getUpdates(
        { offset, limit: 100, timeout: pollSeconds, allowed_updates: poller.wanted },
        signal as Parameters<TelegramApi['getUpdates']>[1],
      );
      trouble.over();
      if (batch.length === 0) offset = undefined;
      const { next, failed } = await takeAll(poller, batch, offset, signal);
      offset = next;
      failures = failed ? failures + 1 : 0;
      if (failed) await pause(clock, backOff(failures), signal);
      else if (batch.length > 0) await pause(clock, beginMs, signal);
    } catch (error) {
      if (signal.aborted) break;
      failures += 1;
      await pause(clock, pauseAfter(error, failures, trouble), signal);
    }
  }
  // If another process polls by now, this call would cut it off.
  if (offset !== undefined && offset !== told && !leading.aborted) await confirm(api, offset, log);
}

/** Handles a batch, with chats side by side. After the first update that was not stored, all later ones come again. */
async function takeAll(
  { bot, foresee, log }: Poller,
  batch: readonly Update[],
  offset: number | undefined,
  signal: AbortSignal,
): Promise<Readonly<{ next: number | undefined; failed: boolean }>> {
  foresee(batch);
  const chats = new Map<string, Promise<void>>();
  const taken = batch.map((update) => {
    const chat = String(new Context(update, bot.api, bot.botInfo).chatId ?? '');
    const before = chats.get(chat) ?? Promise.resolve();
    const one = before.then(() => {
      signal.throwIfAborted();
      return bot.handleUpdate(update);
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
      const err = thrownBy(outcome.reason);
      log.error({ update: id, err }, 'an update could not be stored; it is asked for again');
      return { next, failed: true };
    }
  }
  return { next, failed: false };
}

function pauseAfter(error: unknown, failures: number, trouble: TroubleLog): number {
  const fault = error instanceof TelegramFault ? error : undefined;
  if (fault?.code === 409) {
    trouble.failed(error, {}, 'another process takes the updates of this bot; waiting to take over');
    return electionPauseMs;
  }
  if (fault?.code === 401 || fault?.code === 404) {
    const message = 'Telegram does not know this token any more: get a new one from @BotFather';
    trouble.failed(error, {}, message, 'error');
    return longestPauseMs;
  }
  const wait = Math.max(fault?.retryAfterMs ?? 0, backOff(failures));
  trouble.failed(error, { waitMs: wait }, 'Telegram gave no updates; asking again');
  return wait;
}

async function confirm(api: TelegramApi, offset: number, log: Log): Promise<void> {
  try {
    await api.getUpdates({ offset, limit: 1, timeout: 0 });
  } catch (error) {
    log.debug({ err: error }, 'the last updates could not be acknowledged; they will come again');
  }
}

function backOff(failures: number): number {
  return Math.min(longestPauseMs, shortestPauseMs * 2 ** (failures - 1));
}

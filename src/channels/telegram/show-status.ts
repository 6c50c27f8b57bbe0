import type { Status } from '../../core/channel.ts';
import type { Clock } from '../../core/clock.ts';
import { conversationKey, type Conversation } from '../../core/conversation.ts';
import type { Log } from '../../core/log.ts';
import type { Pace } from '../pace.ts';
import { addressOf } from './send-part.ts';
import { createStatusLine } from './status-line.ts';
import type { TelegramApi } from './telegram-api.ts';
import { TelegramFault } from './telegram-fault.ts';

/** Telegram shows "typing" for five seconds at most. */
const typingMs = 4000;
const longestSleepMs = 60_000;

/** Status of conversations: typing that is refreshed, and a line that changes (U13, H7). */
export type ShowStatus = Readonly<{
  /** Shows, changes, or with nothing removes: removing resolves when the line is deleted. Never rejects. */
  show(conversation: Conversation, status: Status | undefined): Promise<void>;
  /** Removes every status. */
  stop(): Promise<void>;
}>;

/** A status under way. `wanted` undefined: it is being removed. */
type Shown = { wanted: Status | undefined; wake: AbortController; done: Promise<void> };

export function createShowStatus(options: {
  api: TelegramApi;
  pace: Pace;
  clock: Clock;
  log: Log;
}): ShowStatus {
  const { api, clock, log } = options;
  const shown = new Map<string, Shown>();

  /** Typing goes on beside a line: the line alone does not tell that work goes on. */
  async function keepUp(conversation: Conversation, state: Shown): Promise<void> {
    const line = createStatusLine({ ...options, conversation });
    let typingAt = clock.now();
    while (state.wanted !== undefined) {
      if (clock.now() >= typingAt) typingAt = (await type(conversation)) ? clock.now() + typingMs : Infinity;
      const lineAt = state.wanted?.kind === 'line' ? await line.write(state.wanted.text) : Infinity;
      if (state.wanted !== undefined) await rest(Math.min(typingAt, lineAt) - clock.now(), state);
    }
    await line.remove();
  }

  async function rest(ms: number, state: Shown): Promise<void> {
    const { signal } = state.wake;
    await clock.sleep(Math.max(0, Math.min(ms, longestSleepMs)), signal).catch((reason: unknown) => {
      if (!signal.aborted) throw reason;
    });
    if (signal.aborted) state.wake = new AbortController();
  }

  /** False when it is of no use to try again: no right to write, or a channel. */
  async function type(conversation: Conversation): Promise<boolean> {
    try {
      await api.sendChatAction({ ...addressOf(conversation), action: 'typing' });
      return true;
    } catch (error) {
      log.debug({ err: error, chat: conversation.chat }, 'typing could not be shown');
      return error instanceof TelegramFault && (error.kind !== 'answered' || error.code >= 500);
    }
  }

  function begin(key: string, conversation: Conversation, wanted: Status, after: Promise<void>): void {
    const state: Shown = { wanted, wake: new AbortController(), done: Promise.resolve() };
    shown.set(key, state);
    state.done = after
      .then(() => keepUp(conversation, state))
      .catch((error: unknown) => log.error({ err: error }, 'the status failed'))
      .finally(() => {
        if (shown.get(key) === state) shown.delete(key);
      });
  }

  async function end(state: Shown): Promise<void> {
    state.wanted = undefined;
    state.wake.abort();
    await state.done;
  }

  return {
    async show(conversation, status) {
      const key = conversationKey(conversation);
      const state = shown.get(key);
      if (status === undefined) {
        if (state !== undefined) await end(state);
      } else if (state?.wanted === undefined) {
        begin(key, conversation, status, state?.done ?? Promise.resolve());
      } else {
        state.wanted = status;
        state.wake.abort();
      }
    },
    async stop() {
      await Promise.all([...shown.values()].map(end));
    },
  };
}

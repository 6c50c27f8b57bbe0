import type { Clock } from '../../core/clock.ts';
import type { Conversation } from '../../core/conversation.ts';
import type { Log } from '../../core/log.ts';
import type { Pace } from '../pace.ts';
import { addressOf, noPreview } from './send-part.ts';
import type { TelegramApi } from './telegram-api.ts';
import { saidBy, TelegramFault } from './telegram-fault.ts';

const privateEveryMs = 1000;
const groupEveryMs = 3000;
const longestLine = 300;
const deleteTries = 5;

/** One message that is written, rewritten at the platform's pace, and deleted. Its methods never reject. */
export type StatusLine = Readonly<{
  /** Shows `text` if it may go now. Gives the time at which it wants to be called again, Infinity if it does not. */
  write(text: string): Promise<number>;
  /** Deletes the message, trying again what may be tried again. */
  remove(): Promise<void>;
}>;

export function createStatusLine(options: {
  conversation: Conversation;
  api: TelegramApi;
  pace: Pace;
  clock: Clock;
  log: Log;
}): StatusLine {
  const { conversation, api, pace, clock, log } = options;
  const { chat } = conversation;
  const everyMs = chat.startsWith('-') ? groupEveryMs : privateEveryMs;
  let id: number | undefined;
  let shown = '';
  let nextAt = 0;

  async function put(text: string): Promise<void> {
    if (id === undefined) {
      const message = { ...addressOf(conversation), ...noPreview, text, disable_notification: true };
      id = (await api.sendMessage(message)).message_id;
    } else {
      await api.editMessageText({ chat_id: Number(chat), message_id: id, text, ...noPreview });
    }
  }

  return {
    async write(wanted) {
      const text = wanted.slice(0, longestLine).trim();
      if (text === shown || text === '') return Infinity;
      if (clock.now() < nextAt) return nextAt;
      nextAt = clock.now() + everyMs;
      if (!pace.take(chat)) return nextAt;
      try {
        await put(text);
        shown = text;
        return Infinity;
      } catch (error) {
        if (!saidBy(error, /message is not modified/)) {
          log.debug({ err: error, chat }, 'the status line could not be shown');
        }
        const waitMs = error instanceof TelegramFault ? error.retryAfterMs : undefined;
        if (waitMs !== undefined) {
          pace.pause(chat, waitMs);
          return clock.now() + waitMs;
        }
        shown = text;
        return Infinity;
      }
    },
    async remove() {
      for (let tried = 1; id !== undefined; tried++) {
        try {
          await api.deleteMessage({ chat_id: Number(chat), message_id: id });
          return;
        } catch (error) {
          if (saidBy(error, /message to delete not found/)) return;
          if (tried === deleteTries || isFinal(error)) {
            log.warn({ err: error, chat }, 'a status line could not be deleted');
            return;
          }
          const waitMs = error instanceof TelegramFault ? error.retryAfterMs : undefined;
          await clock.sleep(waitMs ?? 250 * 2 ** tried);
        }
      }
    },
  };
}

function isFinal(error: unknown): boolean {
  return error instanceof TelegramFault && error.kind === 'answered' && error.code < 429;
}

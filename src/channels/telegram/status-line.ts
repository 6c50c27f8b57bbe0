import type { Placeholder } from '../../core/channel.ts';
import type { Clock } from '../../core/clock.ts';
import type { Conversation } from '../../core/conversation.ts';
import type { Log } from '../../core/log.ts';
import type { Pace } from '../pace.ts';
import { createPlaceholderLine, type PlaceholderLine } from '../placeholder-line.ts';
import { addressOf, noPreview, replyTo, type SendPart } from './send-part.ts';
import type { TelegramApi } from './telegram-api.ts';
import { saidBy } from './telegram-fault.ts';

const privateEveryMs = 1000;
const groupEveryMs = 3000;
const longestLine = 300;

/** The status line of one piece of work: plain text, at Telegram's pace for changes (H6). */
export function createStatusLine(options: {
  conversation: Conversation;
  placeholder: Placeholder;
  api: TelegramApi;
  parts: SendPart;
  pace: Pace;
  clock: Clock;
  log: Log;
}): PlaceholderLine {
  const { conversation, placeholder, api, parts, pace, clock, log } = options;
  const { chat } = conversation;
  const line = createPlaceholderLine({
    placeholder,
    everyMs: chat.startsWith('-') ? groupEveryMs : privateEveryMs,
    clock,
    log,
    calls: {
      mayGo: () => pace.take(chat),
      async post(text) {
        try {
          const address = { ...addressOf(conversation), ...replyTo(placeholder) };
          const { message_id: id } = await api.sendMessage({ ...address, ...noPreview, text });
          return { id: String(id) };
        } catch (error) {
          throw parts.failed(chat, error);
        }
      },
      async edit({ id }, text) {
        try {
          const message = { chat_id: Number(chat), message_id: Number(id) };
          await api.editMessageText({ ...message, ...noPreview, text });
        } catch (error) {
          if (!saidBy(error, /message is not modified/)) throw parts.failed(chat, error);
        }
      },
      remove: (receipt) => parts.remove(conversation, receipt),
    },
  });
  return {
    write(text) {
      const short = text.slice(0, longestLine).trim();
      if (short !== '') line.write(short);
    },
    end: line.end,
  };
}

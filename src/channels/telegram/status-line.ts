import type { Placeholder } from '../../core/channel.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Conversation } from '../../core/conversation.ts';
import type { Log } from '../../lib/log.ts';
import type { Pace } from '../pace.ts';
import { splitMarkdown } from '../../lib/markdown/split-markdown.ts';
import { createPlaceholderLine, type PlaceholderLine, type Wish } from '../placeholder-line.ts';
import { telegramFits, toTelegramHtml, toTelegramText } from './from-markdown.ts';
import { addressOf, noPreview, replyTo, type SendPart } from './send-part.ts';
import type { TelegramApi } from './telegram-api.ts';
import { saidBy } from './telegram-fault.ts';

const privateEveryMs = 1000;
const groupEveryMs = 3000;
const longestLine = 300;

/** The message of one piece of work, at Telegram's pace for changes (H6): a line as plain text, words as the answer will look. */
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
      async post(wish) {
        try {
          const address = { ...addressOf(conversation), ...replyTo(placeholder), ...noPreview };
          // A line is no reason to ring.
          const quiet = wish.kind === 'line' ? { disable_notification: true } : {};
          const sent = await shownAs(wish, (text) => api.sendMessage({ ...address, ...quiet, ...text }));
          return { id: String(sent.message_id) };
        } catch (error) {
          throw parts.failed(chat, error);
        }
      },
      async edit({ id }, wish) {
        try {
          const message = { chat_id: Number(chat), message_id: Number(id), ...noPreview };
          await shownAs(wish, (text) => api.editMessageText({ ...message, ...text }));
        } catch (error) {
          if (!saidBy(error, /message is not modified/)) throw parts.failed(chat, error);
        }
      },
      remove: (receipt) => parts.remove(conversation, receipt),
    },
  });
  return {
    write(wish) {
      const short = wish.kind === 'line' ? { ...wish, text: wish.text.slice(0, longestLine).trim() } : wish;
      if ((short.kind === 'line' ? short.text : short.markdown).trim() !== '') line.write(short);
    },
    end: line.end,
  };
}

/** Of words the first message; without marks where Telegram can't read them. */
async function shownAs<Sent>(
  wish: Wish,
  call: (text: Readonly<{ text: string; parse_mode?: 'HTML' }>) => Promise<Sent>,
): Promise<Sent> {
  if (wish.kind === 'line') return call({ text: wish.text });
  const [piece = ''] = splitMarkdown(wish.markdown, telegramFits);
  try {
    return await call({ text: toTelegramHtml(piece), parse_mode: 'HTML' });
  } catch (error) {
    if (!saidBy(error, /can't parse entities/)) throw error;
    return call({ text: toTelegramText(piece) });
  }
}

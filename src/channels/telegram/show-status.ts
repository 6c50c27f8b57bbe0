import type { RateLimiter } from '../rate-limiter.ts';
import { createPlaceholderLine, type PlaceholderLine, type Wish } from '../placeholder-line.ts';
import { createDraft, type Draft } from './draft.ts';
import { telegramFits, toTelegramHtml, toTelegramText } from './from-markdown.ts';
import { addressOf, noPreview, replyTo, type SendPart } from './send-part.ts';
import { TelegramFault, saidBy, type TelegramApi } from './telegram-api.ts';
import type { Placeholder, Status } from '../../core/channel.ts';
import type { Conversation } from '../../core/conversation.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { splitMarkdown } from '../../lib/markdown/split-markdown.ts';

const privateEveryMs = 1000;

const groupEveryMs = 3000;

const longestLine = 300;

/** Telegram shows it for five seconds. */
const typingMs = 4000;

/** Typing that is refreshed, and a line that changes (U13, H7). */
export type ShowStatus = Readonly<{
  show(conversation: Conversation, status: Status | undefined, placeholder: Placeholder): Promise<void>;
  stop(): Promise<void>;
}>;

type Shown = { readonly line: PlaceholderLine; readonly over: AbortController; draft?: Draft };

export function createShowStatus(options: {
  api: TelegramApi;
  parts: SendPart;
  pace: RateLimiter;
  clock: Clock;
  log: Log;
}): ShowStatus {
  const { api, clock, log } = options;
  const shown = new Map<string, Shown>();
  /** False if this server has none. */
  let hasDrafts = true;

  /** Beside a line, too: the line alone does not show that work continues. */
  async function keepTyping(conversation: Conversation, { signal }: AbortController): Promise<void> {
    while (!signal.aborted && (await type(conversation))) {
      await clock.sleep(typingMs, signal).catch((reason: unknown) => {
        if (!signal.aborted) throw reason;
      });
    }
  }

  /** False if another try is useless. */
  async function type(conversation: Conversation): Promise<boolean> {
    try {
      await api.sendChatAction({ ...addressOf(conversation), action: 'typing' });
      return true;
    } catch (error) {
      log.debug({ err: error, chat: conversation.chat }, 'typing could not be shown');
      return error instanceof TelegramFault && (error.kind !== 'answered' || error.code >= 500);
    }
  }

  function begin(conversation: Conversation, placeholder: Placeholder): Shown {
    const state: Shown = {
      line: createStatusLine({ ...options, conversation, placeholder }),
      over: new AbortController(),
    };
    keepTyping(conversation, state.over).catch((error: unknown) =>
      log.error({ err: error }, 'typing failed'),
    );
    return state;
  }

  async function end({ line, draft, over }: Shown): Promise<void> {
    over.abort();
    await Promise.all([line.end(), draft?.end()]);
  }

  /** In a private chat words are a draft: only the answer rings. */
  function showWords(
    conversation: Conversation,
    words: Extract<Status, { kind: 'words' }>,
    { key }: Placeholder,
    state: Shown,
  ): void {
    state.over.abort();
    if (!hasDrafts || conversation.chat.startsWith('-')) return state.line.write(words);
    const refused = (): void => {
      hasDrafts = false;
    };
    state.draft ??= createDraft({ ...options, conversation, key, refused });
    state.draft.write(words.markdown);
  }

  /** What was said before was not the answer yet. */
  async function showLine(line: Extract<Status, { kind: 'line' }>, state: Shown): Promise<void> {
    const { draft } = state;
    delete state.draft;
    state.line.write(line);
    await draft?.end();
  }

  return {
    async show(conversation, status, placeholder) {
      const { key } = placeholder;
      const before = shown.get(key);
      if (status === undefined) {
        shown.delete(key);
        if (before !== undefined) await end(before);
        return;
      }
      const state = before ?? begin(conversation, placeholder);
      shown.set(key, state);
      if (status.kind === 'words') showWords(conversation, status, placeholder, state);
      if (status.kind === 'line') await showLine(status, state);
    },
    async stop() {
      const all = [...shown.values()];
      shown.clear();
      await Promise.all(all.map(end));
    },
  };
}

/** At Telegram's pace (H6): a line as plain text, words as the answer will look. */
function createStatusLine(options: {
  conversation: Conversation;
  placeholder: Placeholder;
  api: TelegramApi;
  parts: SendPart;
  pace: RateLimiter;
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
          // A line does not ring.
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

/** Without marks where Telegram can't read them. */
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

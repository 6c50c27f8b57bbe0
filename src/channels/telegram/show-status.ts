import type { RateLimiter } from '../rate-limiter.ts';
import { createPlaceholderLine, type PlaceholderLine, type Written } from '../placeholder-line.ts';
import { createPreview, type Preview } from '../preview.ts';
import { createDraft, type TelegramDraft } from './draft.ts';
import { telegramFits, toTelegramHtml } from './from-markdown.ts';
import { chatAddress, keyboard, noPreview, replyTo, withMarks, type SendPart } from './send-part.ts';
import { TelegramFault, saidBy, type TelegramApi } from './telegram-api.ts';
import type { Placeholder, ChatStatus } from '../../core/channel.ts';
import type { Conversation } from '../../core/conversation.ts';
import { pause, type Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';

const privateEveryMs = 1000;
const groupEveryMs = 3000;
const longestLine = 300;
const longestPreview = 8_000;
/** Milliseconds between calls. Telegram shows it for five seconds. */
const typingMs = 4000;

/** Shows that the bot types, a line, or the words as they come (U13, H7). */
type ShowStatus = Readonly<{
  show(conversation: Conversation, status: ChatStatus | undefined, placeholder: Placeholder): Promise<void>;
  stop(): Promise<void>;
}>;

type Shown = { readonly line: PlaceholderLine; readonly over: AbortController; draft?: TelegramDraft };

type StatusDeps = Readonly<{ api: TelegramApi; parts: SendPart; pace: RateLimiter; clock: Clock; log: Log }>;

export function createShowStatus(deps: StatusDeps): ShowStatus {
  const shown = new Map<string, Shown>();
  let hasDrafts = true;

  function begin(conversation: Conversation, placeholder: Placeholder): Shown {
    const line = createStatusLine(conversation, placeholder, deps);
    const over = new AbortController();
    keepTyping(conversation, over.signal, deps).catch((error: unknown) =>
      deps.log.error({ err: error }, 'typing failed'),
    );
    return { line, over };
  }

  /** Shows words. In private chats they are a draft, so that only the answer notifies. */
  function showWords(
    conversation: Conversation,
    words: Extract<ChatStatus, { kind: 'words' }>,
    { key }: Placeholder,
    state: Shown,
  ): void {
    state.over.abort();
    if (!hasDrafts || conversation.chat.startsWith('-')) return state.line.write(words);
    const refused = (): void => {
      hasDrafts = false;
    };
    state.draft ??= createDraft({ ...deps, conversation, key, preview: createTelegramPreview(), refused });
    state.draft.write(words.markdown);
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

async function end({ line, draft, over }: Shown): Promise<void> {
  over.abort();
  await Promise.all([line.end(), draft?.end()]);
}

async function showLine(line: Extract<ChatStatus, { kind: 'line' }>, state: Shown): Promise<void> {
  const { draft } = state;
  delete state.draft;
  state.line.write(line);
  await draft?.end();
}

async function keepTyping(conversation: Conversation, signal: AbortSignal, deps: StatusDeps): Promise<void> {
  while (!signal.aborted && (await type(conversation, deps))) await pause(deps.clock, typingMs, signal);
}

/** Shows that the bot types. False if trying again is useless. */
async function type(conversation: Conversation, { api, log }: StatusDeps): Promise<boolean> {
  try {
    await api.sendChatAction({ ...chatAddress(conversation), action: 'typing' });
    return true;
  } catch (error) {
    log.debug({ err: error, chat: conversation.chat }, 'typing could not be shown');
    return error instanceof TelegramFault && (error.kind !== 'answered' || error.code >= 500);
  }
}

/** Shows a line or words in a message. Words look like the answer (H6). */
function createStatusLine(
  conversation: Conversation,
  placeholder: Placeholder,
  { api, parts, pace, clock, log }: StatusDeps,
): PlaceholderLine {
  const { chat } = conversation;
  const preview = createTelegramPreview();
  const buttons = placeholder.stop === undefined ? [] : [placeholder.stop];
  const line = createPlaceholderLine<Text>({
    placeholder,
    everyMs: chat.startsWith('-') ? groupEveryMs : privateEveryMs,
    clock,
    log,
    calls: {
      mayGo: () => pace.take(chat),
      write(wish) {
        if (wish.kind === 'line') return { wish, same: wish.text, markdown: '' };
        const markdown = preview(wish.markdown);
        return { wish, same: toTelegramHtml(markdown), markdown };
      },
      async post(sent) {
        const address = { ...chatAddress(conversation), ...replyTo(placeholder), ...noPreview };
        const reply_markup = keyboard({ buttons });
        const message = {
          ...address,
          reply_markup,
          disable_notification: sent.wish.kind === 'line' ? true : undefined,
        };
        try {
          const posted = await shownAs(sent, (text) => api.sendMessage({ ...message, ...text }));
          return { id: String(posted.message_id) };
        } catch (error) {
          throw parts.failed(chat, error);
        }
      },
      async edit({ id }, sent) {
        const reply_markup = keyboard({ buttons });
        const message = { chat_id: Number(chat), message_id: Number(id), ...noPreview, reply_markup };
        try {
          await shownAs(sent, (text) => api.editMessageText({ ...message, ...text }));
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

type Text = Written & Readonly<{ markdown: string }>;

function shownAs<Sent>(
  { wish, same, markdown }: Text,
  call: (text: Readonly<{ text: string; parse_mode?: 'HTML' }>) => Promise<Sent>,
): Promise<Sent> {
  return wish.kind === 'line' ? call({ text: wish.text }) : withMarks(markdown, call, same);
}

/** Makes a preview that Telegram accepts. Marks do not count for the 4,096 characters. */
export function createTelegramPreview(): Preview {
  return createPreview(telegramFits, longestPreview);
}

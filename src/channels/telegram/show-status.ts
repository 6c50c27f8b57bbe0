import type { Placeholder, Status } from '../../core/channel.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Conversation } from '../../core/conversation.ts';
import type { Log } from '../../lib/log.ts';
import type { Pace } from '../pace.ts';
import type { PlaceholderLine } from '../placeholder-line.ts';
import { addressOf, type SendPart } from './send-part.ts';
import { createDraft, type Draft } from './draft.ts';
import { createStatusLine } from './status-line.ts';
import type { TelegramApi } from './telegram-api.ts';
import { TelegramFault } from './telegram-fault.ts';

/** Telegram shows "typing" for five seconds at most. */
const typingMs = 4000;

/** Status of pieces of work: typing that is refreshed, and a line that changes (U13, H7). */
export type ShowStatus = Readonly<{
  /** As `Channel.status`. */
  show(conversation: Conversation, status: Status | undefined, placeholder: Placeholder): Promise<void>;
  /** Ends every status. */
  stop(): Promise<void>;
}>;

type Shown = { readonly line: PlaceholderLine; readonly over: AbortController; draft?: Draft };

export function createShowStatus(options: {
  api: TelegramApi;
  parts: SendPart;
  pace: Pace;
  clock: Clock;
  log: Log;
}): ShowStatus {
  const { api, clock, log } = options;
  const shown = new Map<string, Shown>();
  /** False where this server has none. */
  let hasDrafts = true;

  /** Typing goes on beside a line: the line alone does not tell that work goes on. */
  async function keepTyping(conversation: Conversation, { signal }: AbortController): Promise<void> {
    while (!signal.aborted && (await type(conversation))) {
      await clock.sleep(typingMs, signal).catch((reason: unknown) => {
        if (!signal.aborted) throw reason;
      });
    }
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

  /** In a private chat words stand in a draft, beside a line that may be there: only the answer itself rings. */
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

  /** What was said before was not the answer yet: something is being done for it. */
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

import { createHash } from 'node:crypto';
import { pause, type Clock } from '../../lib/clock.ts';
import type { Conversation } from '../../core/conversation.ts';
import type { Log } from '../../lib/log.ts';
import { splitMarkdown } from '../../lib/markdown/split-markdown.ts';
import type { RateLimiter } from '../rate-limiter.ts';
import { telegramFits } from './from-markdown.ts';
import { addressOf, withMarks } from './send-part.ts';
import { saidBy, TelegramFault, type TelegramApi } from './telegram-api.ts';

/** In private chats, gone after 30 s (H6). */
export type Draft = Readonly<{
  write(markdown: string): void;
  end(): Promise<void>;
}>;

const everyMs = 1_000;
const refreshMs = 20_000;
const afterFaultMs = 5_000;

/** `refused`: this server or chat knows no drafts. */
export function createDraft(options: {
  conversation: Conversation;
  key: string;
  api: TelegramApi;
  pace: RateLimiter;
  refused(): void;
  clock: Clock;
  log: Log;
}): Draft {
  const { conversation, key, api, pace, refused, clock, log } = options;
  const over = new AbortController();
  const draft_id = createHash('sha256').update(key).digest().readUInt32BE() % 0x7fffffff || 1;
  let wanted = '';
  let shown: string | undefined;
  let nextAt = 0;
  let waiting = new AbortController();
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    while (!over.signal.aborted) {
      const now = clock.now();
      if (now < nextAt) await pause(clock, nextAt - now, over.signal);
      else if (wanted !== shown) await step(wanted);
      else {
        waiting = new AbortController();
        await pause(clock, refreshMs, AbortSignal.any([over.signal, waiting.signal]));
        shown = undefined;
      }
    }
  }

  async function step(markdown: string): Promise<void> {
    nextAt = clock.now() + everyMs;
    // Counted apart: a preview never delays an answer.
    if (!pace.take(`draft ${conversation.chat}`)) return;
    const [piece = ''] = splitMarkdown(markdown, telegramFits);
    const draft = { ...addressOf(conversation), draft_id };
    try {
      await withMarks(piece, (text) => api.sendMessageDraft({ ...draft, ...text }));
      shown = markdown;
    } catch (error) {
      log.debug({ err: error, chat: conversation.chat }, 'a draft could not be shown');
      nextAt =
        clock.now() + ((error instanceof TelegramFault ? error.retryAfterMs : undefined) ?? afterFaultMs);
      if (!(error instanceof TelegramFault) || error.kind !== 'answered' || error.code === 429) return;
      if (error.code >= 500) return;
      over.abort();
      if (error.code === 404 || saidBy(error, /TEXTDRAFT/)) refused();
    }
  }

  return {
    write(markdown) {
      if (over.signal.aborted || markdown.trim() === '') return;
      wanted = markdown;
      waiting.abort();
      working ??= work();
    },
    async end() {
      over.abort();
      await working;
    },
  };
}

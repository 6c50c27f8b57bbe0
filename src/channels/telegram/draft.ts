import { createHash } from 'node:crypto';
import { pause, type Clock } from '../../lib/clock.ts';
import type { Conversation } from '../../core/conversation.ts';
import type { Log } from '../../lib/log.ts';
import type { RateLimiter } from '../rate-limiter.ts';
import type { Preview } from '../preview.ts';
import { toTelegramHtml } from './from-markdown.ts';
import { chatAddress, withMarks } from './send-part.ts';
import { saidBy, TelegramFault, type TelegramApi } from './telegram-api.ts';

/** The words so far as a draft in a private chat, which disappears after 30 s (H6). */
export type TelegramDraft = Readonly<{
  write(markdown: string): void;
  end(): Promise<void>;
}>;

const everyMs = 1_000;
const refreshMs = 20_000;
const afterFaultMs = 5_000;
/** The share of the time that writing previews may take. */
const share = 0.1;

/** The draft's id, made of its placeholder's key so that a press on its stop button names the work after a restart. */
export function draftIdOf(key: string): number {
  return createHash('sha256').update(key).digest().readUInt32BE() % 0x7fffffff || 1;
}

/** Makes a draft. `refused` is called if this server or chat knows no drafts. */
export function createDraft(options: {
  conversation: Conversation;
  key: string;
  preview: Preview;
  api: TelegramApi;
  pace: RateLimiter;
  refused(): void;
  clock: Clock;
  log: Log;
}): TelegramDraft {
  const { conversation, key, preview, api, pace, refused, clock, log } = options;
  const over = new AbortController();
  const stoppable = { draft_id: draftIdOf(key), can_stop: true, keep_on_stop: true };
  let wanted = '';
  let done: string | undefined;
  /** Undefined if the draft has to be shown again. */
  let shown: string | undefined;
  let nextAt = 0;
  let waiting = new AbortController();
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    while (!over.signal.aborted) {
      const now = clock.now();
      if (now < nextAt) await pause(clock, nextAt - now, over.signal);
      else if (wanted !== done || shown === undefined) await step(wanted);
      else {
        waiting = new AbortController();
        await pause(clock, refreshMs, AbortSignal.any([over.signal, waiting.signal]));
        shown = undefined;
      }
    }
  }

  async function step(markdown: string): Promise<void> {
    const began = clock.now();
    const piece = preview(markdown);
    const html = toTelegramHtml(piece);
    const now = clock.now();
    nextAt = now + Math.max(everyMs, (now - began) / share);
    if (html === shown || html === '') {
      done = markdown;
      return;
    }
    // Counted separately, so that a preview never delays an answer.
    if (!pace.take(`draft ${conversation.chat}`)) return;
    const draft = { ...chatAddress(conversation), ...stoppable };
    try {
      await withMarks(piece, (text) => api.sendMessageDraft({ ...draft, ...text }), html);
      shown = html;
      done = markdown;
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

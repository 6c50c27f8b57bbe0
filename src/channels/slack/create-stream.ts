import type { RateLimiter } from '../rate-limiter.ts';
import type { Wish } from '../placeholder-line.ts';
import { keyMetadata } from './find-key.ts';
import type { SlackBlock } from './buttons.ts';
import { toStreamText } from './from-markdown.ts';
import { toPlanChunks } from './plan-blocks.ts';
import { slackErrorCode, textField, toSendError, type CallSlack } from './slack-error.ts';
import type { Conversation } from '../../core/conversation.ts';
import type { Plan } from '../../core/plan.ts';
import { SendError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';

/** A message that Slack shows while it is written: words of an answer, and steps (H6, U18). Its methods throw SendError. */
type Stream = Readonly<{
  /** What the stream would show, equal for wishes that look the same; undefined if it can't be in a stream. */
  look(wish: Wish): string | undefined;
  /** Starts a stream and returns its timestamp; undefined if Slack does not stream now. */
  start(wish: Wish): Promise<string | undefined>;
  /** Whether the rate limit allows more now; undefined without an open stream. */
  mayAppend(): boolean | undefined;
  /** Adds to a stream. False if the message has to be edited instead. */
  extend(ts: string, wish: Wish): Promise<boolean>;
  stop(): Promise<void>;
}>;

/** What a stream shows. Words before `base` stay, because a stream can't take words back. */
type Shown = Readonly<{ text: string; base: string; plan: Plan | undefined }>;

/** Opens a stream in a thread; undefined elsewhere. In a channel only one person would see it (docs/decisions/0038). */
export type OpenStream = (conversation: Conversation, key: string) => Stream | undefined;

const startLimit = 'chat.startStream';
const appendLimit = 'chat.appendStream';
const refusedMs = 600_000;
const longestStream = 11_000;

export function createStreams(deps: {
  call: CallSlack;
  starts: RateLimiter;
  appends: RateLimiter;
  clock: Clock;
}): OpenStream {
  const refusedUntil = new Map<string, number>();
  return ({ chat, thread }, key) => {
    if (thread === undefined || !chat.startsWith('D')) return undefined;
    return createStream({ chat, thread, key }, deps, refusedUntil);
  };
}

function createStream(
  { chat, thread, key }: Readonly<{ chat: string; thread: string; key: string }>,
  { call, starts, appends, clock }: Parameters<typeof createStreams>[0],
  refusedUntil: Map<string, number>,
): Stream {
  let open: (Shown & Readonly<{ ts: string }>) | undefined;
  let began = false;

  async function stop(): Promise<void> {
    const stopped = open;
    open = undefined;
    if (stopped !== undefined) await stopStream(call, { channel: chat, ts: stopped.ts }, key);
  }

  return {
    look(wish) {
      if (began && open === undefined) return undefined;
      const next = shownAs(wish, open);
      return next && JSON.stringify([next.text, next.plan]);
    },

    async start(wish) {
      const next = shownAs(wish, undefined);
      const isRefused = (refusedUntil.get(chat) ?? 0) > clock.now();
      began = true;
      if (next === undefined || isRefused || !starts.take(startLimit)) return undefined;
      try {
        const answer = await call('chat.startStream', {
          channel: chat,
          thread_ts: thread,
          task_display_mode: 'plan',
          chunks: chunksOf(next, undefined),
        });
        open = { ts: textField(answer, 'ts'), ...next };
        return open.ts;
      } catch (error) {
        const { retryAfterMs } = toSendError(error, 'a stream');
        const code = slackErrorCode(error);
        if (retryAfterMs !== undefined) starts.pause(startLimit, retryAfterMs);
        else if (code === undefined || doubtful.includes(code)) throw error;
        else refusedUntil.set(chat, clock.now() + refusedMs);
        return undefined;
      }
    },

    mayAppend: () => (open === undefined ? undefined : appends.take(appendLimit)),

    async extend(ts, wish) {
      const before = open;
      // After a line, later words are a new message, which may be a stream.
      if (wish.kind === 'line' && wish.plan === undefined) began = false;
      if (before?.ts !== ts) return false;
      const next = shownAs(wish, before);
      if (next === undefined || !next.text.startsWith(before.text)) {
        await stop();
        return false;
      }
      const chunks = chunksOf(next, before);
      if (chunks.length === 0) {
        open = { ts, ...next };
        return true;
      }
      // If the outcome is unknown, only an edit shows each word once.
      open = undefined;
      try {
        await call('chat.appendStream', { channel: chat, ts, chunks });
      } catch (error) {
        const code = slackErrorCode(error);
        // This happens after about five minutes, whatever is added.
        if (code === 'message_not_in_streaming_state') return false;
        if (code === 'stopped_by_user')
          throw new SendError('refused', 'the person stopped the stream', { cause: error });
        const told = toSendError(error, 'words of an answer');
        if (told.retryAfterMs !== undefined) {
          open = before;
          appends.pause(appendLimit, told.retryAfterMs);
        }
        throw told;
      }
      open = { ts, ...next };
      return true;
    },

    stop,
  };
}

/** What a stream shows for a wish, after `before`. Undefined if it can't. */
function shownAs(wish: Wish, before: Shown | undefined): Shown | undefined {
  const { plan } = wish;
  const { base = '', text: said = '' } = before ?? {};
  if (wish.kind === 'line') {
    if (plan === undefined) return undefined;
    return { text: said, base: said === '' || said === base ? base : `${said}\n\n`, plan };
  }
  const words = wish.markdown.length > longestStream ? '' : toStreamText(wish.markdown);
  const text = `${base}${words}`;
  const isEmpty = words === '' && plan === undefined;
  return isEmpty || text.length > longestStream || wish.markdown.length > longestStream
    ? undefined
    : { text, base, plan };
}

function chunksOf(next: Shown, before: Shown | undefined): readonly SlackBlock[] {
  const more = next.text.slice(before?.text.length ?? 0);
  const words = more === '' ? [] : [{ type: 'markdown_text', text: more }];
  return [...toPlanChunks(next.plan, before?.plan), ...words];
}

const doubtful: readonly string[] = [
  'messaging_processing_failed',
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
];

type Place = Readonly<{ channel: string; ts: string }>;

/** Ends a stream. Its metadata carry the key by which the message is found (Q6). */
async function stopStream(call: CallSlack, place: Place, key: string): Promise<void> {
  try {
    await call('chat.stopStream', { ...place, metadata: keyMetadata(key) });
  } catch (error) {
    const told = toSendError(error, 'the end of a stream');
    if (slackErrorCode(error) === undefined || told.retryAfterMs !== undefined) throw told;
  }
}

/** Changes a message. Slack refuses changes of an open stream, so it is ended first. */
export async function whenClosed<Answer>(
  call: CallSlack,
  place: Place,
  change: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await change();
  } catch (error) {
    if (!ofOpenStream.includes(slackErrorCode(error) ?? '')) throw error;
    await stopStream(call, place, '');
    return change();
  }
}

const ofOpenStream: readonly string[] = ['streaming_state_conflict', 'cant_delete_message'];

import type { RateLimiter } from '../rate-limiter.ts';
import { createPlaceholderLine, type PlaceholderLine, type Wish, type Written } from '../placeholder-line.ts';
import { createPreview, type Preview } from '../preview.ts';
import { toBody, updateRateLimit, orPlain, type SlackSender } from './create-sender.ts';
import { whenClosed, type OpenStream } from './create-stream.ts';
import { keyMetadata } from './find-key.ts';
import { slackFits } from './from-markdown.ts';
import type { SlackPaces } from './slack-options.ts';
import { escapeText } from './plain-text.ts';
import { createOwnStatus } from './own-status.ts';
import { textField, toSendError, type CallSlack } from './slack-error.ts';
import type { Placeholder, ChatStatus, Receipt } from '../../core/channel.ts';
import { conversationKey, type Conversation } from '../../core/conversation.ts';
import type { SendError } from '../../core/errors.ts';
import { sayIn } from '../../core/texts/say.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';

const editEveryMs = 1000;
const appendEveryMs = 700;
/** Characters of a preview. A message may have 12,000. */
const pageLength = 6_000;

/** Shows the newest status of each piece of work (U13, H7). */
export type StatusBoard = Readonly<{
  show(conversation: Conversation, status: ChatStatus | undefined, placeholder: Placeholder): Promise<void>;
  /** Resolves once Slack's own lines are gone, or were tried five times. */
  clear(): Promise<void>;
}>;

type Work = {
  readonly conversation: Conversation;
  readonly line: PlaceholderLine;
  wanted: ChatStatus | undefined;
  /** Slack's own line, and since when it is shown; undefined if it is not used. */
  shown: Readonly<{ status: ChatStatus; at: number }> | undefined;
  failures: number;
  alarm: AbortController;
};

/** Shows status in Slack's own line under the thread if it can, or else in a message that changes. */
export function createStatus(options: {
  call: CallSlack;
  sender: SlackSender;
  paces: SlackPaces;
  openStream: OpenStream | undefined;
  log: Log;
  clock: Clock;
  mark: boolean;
}): StatusBoard {
  const { call, log, clock, mark } = options;
  const own = createOwnStatus(call, mark);
  const works = new Map<string, Work>();
  const newest = new Map<string, Work>();
  const ending = new Set<Promise<void>>();

  async function step(work: Work, placeholder: Placeholder): Promise<void> {
    const { conversation, wanted } = work;
    const inThread = conversation.thread !== undefined;
    const place = `${conversationKey(conversation)} ${inThread ? '' : (placeholder.asked ?? '')}`;
    try {
      if (wanted === undefined) {
        if (work.shown !== undefined && newest.get(place) === work)
          await own.set(conversation, '', placeholder);
        work.shown = undefined;
        if (newest.get(place) === work) newest.delete(place);
      } else if (!isCurrent(work, clock.now())) {
        newest.set(place, work);
        const hasPlan = wanted.kind !== 'typing' && wanted.plan !== undefined;
        if (wanted.kind === 'line' && !hasPlan && (await placeholder.posted()) !== undefined)
          work.line.write(wanted);
        else if (wanted.kind === 'words' || (wanted.kind === 'line' && hasPlan)) {
          if (work.shown !== undefined) await own.set(conversation, '', placeholder);
          work.shown = undefined;
          work.line.write(wanted);
        } else if (wanted.kind === 'line' && !inThread) work.line.write(wanted);
        else if (
          await own.set(conversation, wanted.kind === 'line' ? wanted.text : thinking(wanted), placeholder)
        )
          work.shown = { status: wanted, at: clock.now() };
        else if (wanted.kind === 'line') work.line.write(wanted);
        // In a channel everybody would see it.
        else if (!inThread && conversation.chat.startsWith('D')) work.line.write({ kind: 'line', text: '…' });
      }
      work.failures = 0;
    } catch (error) {
      work.failures += 1;
      log.debug({ err: error, conversation: place }, 'Slack status not changed');
    }
  }

  async function carryOut(work: Work, placeholder: Placeholder): Promise<void> {
    for (;;) {
      const { wanted } = work;
      await step(work, placeholder);
      if (work.wanted === undefined && (work.shown === undefined || work.failures >= mostTries)) return;
      if (work.wanted === wanted) await rest(work, work.failures === 0 ? refreshMs : againMs, clock);
    }
  }

  function begin(conversation: Conversation, wanted: ChatStatus, placeholder: Placeholder): void {
    const work: Work = {
      conversation,
      line: createStatusLine(conversation, placeholder, options),
      wanted,
      shown: undefined,
      failures: 0,
      alarm: new AbortController(),
    };
    works.set(placeholder.key, work);
    const done = carryOut(work, placeholder).finally(() => ending.delete(done));
    ending.add(done);
  }

  async function end(work: Work): Promise<void> {
    work.wanted = undefined;
    work.alarm.abort();
    await work.line.end();
  }

  return {
    async show(conversation, status, placeholder) {
      const work = works.get(placeholder.key);
      if (status === undefined) {
        works.delete(placeholder.key);
        if (work !== undefined) await end(work);
      } else if (work === undefined) {
        begin(conversation, status, placeholder);
      } else {
        work.wanted = status;
        work.alarm.abort();
      }
    },
    async clear() {
      const all = [...works.values()];
      works.clear();
      await Promise.all([...all.map(end), ...ending]);
    },
  };
}

function thinking({ language }: Extract<ChatStatus, { kind: 'typing' }>): string {
  return sayIn(language)`is thinking…`;
}

const mostTries = 5;
const againMs = 1000;
/** Shown again after this time, because Slack removes it after two minutes. */
const refreshMs = 90_000;

function isCurrent({ wanted, shown }: Work, now: number): boolean {
  if (wanted === undefined || shown === undefined) return wanted === shown;
  return JSON.stringify(wanted) === JSON.stringify(shown.status) && now - shown.at < refreshMs;
}

async function rest(work: Work, ms: number, clock: Clock): Promise<void> {
  const alarm = new AbortController();
  work.alarm = alarm;
  try {
    await clock.sleep(ms, alarm.signal);
  } catch (error) {
    if (!alarm.signal.aborted) throw error;
  }
}

/** Shows a line if Slack has none of its own here, or the words of the answer (H6). */
function createStatusLine(
  conversation: Conversation,
  placeholder: Placeholder,
  { call, sender, paces: { posts, edits }, openStream, clock, log }: Parameters<typeof createStatus>[0],
): PlaceholderLine {
  const { chat, thread } = conversation;
  const stream = openStream?.(conversation, placeholder.key);

  function failed(error: unknown, pace: RateLimiter, key: string): SendError {
    const told = toSendError(error, 'a status');
    if (told.retryAfterMs !== undefined) pace.pause(key, told.retryAfterMs);
    return told;
  }

  const preview = createPreview(
    (markdown) => markdown.length <= pageLength && slackFits(markdown),
    pageLength,
  );

  function write(wish: Wish): Sent {
    const streamed = stream?.look(wish);
    if (streamed !== undefined) return { wish, same: streamed };
    const body = bodyOf(wish, preview);
    return { wish, same: JSON.stringify(body), body };
  }

  async function post({ wish, body }: Sent): Promise<Receipt> {
    const where = { channel: chat, thread_ts: thread };
    const fixed = { metadata: keyMetadata(placeholder.key), unfurl_links: false, unfurl_media: false };
    try {
      const streamed = body === undefined ? await stream?.start(wish) : undefined;
      if (streamed !== undefined) return { id: streamed };
      const whole = body ?? bodyOf(wish, preview);
      const posted = await orPlain(
        (one) => call('chat.postMessage', { ...where, ...fixed, ...one }),
        whole,
        () => ({ text: whole.text }),
      );
      return { id: textField(posted, 'ts') };
    } catch (error) {
      const told = failed(error, posts, chat);
      // It may have been posted although the call failed (H7).
      const found = told.outcome === 'unknown' ? await sender.find(conversation, placeholder.key) : undefined;
      if (found === undefined) throw told;
      return found;
    }
  }

  const line = createPlaceholderLine<Sent>({
    placeholder,
    everyMs: stream === undefined ? editEveryMs : appendEveryMs,
    clock,
    log,
    calls: {
      write,
      mayGo: (what) =>
        what === 'post' ? posts.take(chat) : (stream?.mayAppend() ?? edits.take(updateRateLimit)),
      post,
      async edit({ id }, { wish, body }) {
        if ((await stream?.extend(id, wish)) === true) return;
        const place = { channel: chat, ts: id };
        const changed = body ?? bodyOf(wish, preview);
        const update = (one: typeof changed) =>
          whenClosed(call, place, () => call('chat.update', { ...place, ...one }));
        try {
          await orPlain(update, changed, () => ({ text: changed.text, blocks: [] }));
        } catch (error) {
          throw failed(error, edits, updateRateLimit);
        }
      },
      remove: (receipt) => sender.remove(conversation, receipt),
    },
  });
  return {
    write: line.write,
    async end() {
      await line.end();
      await stream?.stop().catch((error: unknown) => {
        // The answer, which is an edit, stops the stream again.
        log.debug({ err: error, work: placeholder.key }, 'a stream could not be stopped');
      });
    },
  };
}

/** What is sent. Without a body the words go into the open stream. */
type Sent = Written & Readonly<{ body?: ReturnType<typeof toBody> }>;

function bodyOf(wish: Wish, preview: Preview): ReturnType<typeof toBody> {
  const { plan } = wish;
  if (wish.kind === 'words') return toBody({ markdown: preview(wish.markdown), plan });
  return plan === undefined
    ? { text: `_${escapeText(wish.text)}_`, blocks: [] }
    : toBody({ markdown: '', plan });
}

import type { Channel, Placeholder, Receipt } from '../core/channel.ts';
import type { Conversation } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { oneLine } from '../lib/text/text.ts';
import { partKey } from '../replies/replies.ts';
import type { Outbox } from '../store/outbox.ts';
import type { Step, Store } from '../store/store.ts';

/**
 * What a person sees while the bot works: typing, after a few seconds a line that changes (U13, H7), and the answer
 * as it is written (H6).
 */
export type ShowProgress = Readonly<{ begin(work: Work): Shown }>;

export type Work = Readonly<{
  conversation: Conversation;
  /** Outbox key of the answer's first part, which takes the line's place (Q6). */
  part: string;
  /** `platformId` of the message that is answered. */
  replyTo?: string;
  /** `platformId` of the message that is worked on. */
  asked?: string;
  /** A process ended during this work before. */
  resumed: boolean;
  /** Somebody may have been removed meanwhile (A9). */
  mayRead(): Promise<boolean>;
  /** Once aborted, nothing new is shown. */
  signal: AbortSignal;
}>;

export type Shown = Readonly<{
  progress(text: string): void;
  onText(more: string): void;
  /** Not `final`: tool calls follow. */
  onWritten(final: boolean): void;
  /** Call it before the answer is stored: nothing is shown after it resolves. Never rejects. */
  end(): Promise<void>;
}>;

/** A quicker answer needs no typing. */
const instantMs = 300;
/** First words are due 300 ms after the model's (H6). */
const firstWordsMs = 250;
/** Each platform shows them at its own pace. */
const wordsEveryMs = 250;
const longestLine = 300;
/** Shorter work needs no line. */
const quietMs = 3_000;

export function createShowProgress(options: {
  channels: ReadonlyMap<string, Channel>;
  outbox: Pick<Outbox, 'show' | 'shown' | 'pending'>;
  clock: Clock;
  log: Log;
}): ShowProgress {
  const { channels, outbox, clock, log } = options;
  // One for all, because a stack for each turn is slow.
  const isOver = new DOMException('the work is over', 'AbortError');

  return {
    begin(work) {
      const { conversation, resumed } = work;
      const channel = channels.get(conversation.channel);
      if (channel === undefined)
        return {
          progress: () => undefined,
          onText: () => undefined,
          onWritten: () => undefined,
          end: async () => undefined,
        };
      const placeholder = createPlaceholder(work, channel, outbox);
      const over = new AbortController();
      const began = clock.now();
      let line: string | undefined;
      let alarmed = false;
      let words = '';
      let wordsDue = false;
      let wordsAlarm = new AbortController();
      let wordsShown = false;
      let ended: Promise<void> | undefined;

      async function show(): Promise<void> {
        if (line === undefined || over.signal.aborted) return;
        if (await stoodAbove()) return showIn(quietMs);
        if (!over.signal.aborted && !wordsShown)
          await channel?.status(conversation, { kind: 'line', text: line }, placeholder);
      }

      /** A message posted now would be above an earlier answer that is not sent yet. */
      async function stoodAbove(): Promise<boolean> {
        return (await placeholder.posted()) === undefined && (await outbox.pending(conversation)) > 0;
      }

      function showIn(ms: number): void {
        if (alarmed) return;
        alarmed = true;
        const wake = (): void => {
          alarmed = false;
          show().catch(complain);
        };
        clock.sleep(ms, over.signal).then(wake, () => undefined);
      }

      function showWordsIn(ms: number): void {
        if (wordsDue) return;
        wordsDue = true;
        wordsAlarm = new AbortController();
        clock.sleep(ms, AbortSignal.any([over.signal, wordsAlarm.signal])).then(
          () => showWords().catch(complain),
          () => undefined,
        );
      }

      async function showWords(): Promise<void> {
        wordsDue = false;
        const markdown = words;
        if (markdown.trim() === '' || !(await work.mayRead())) return;
        if (await stoodAbove()) return showWordsIn(quietMs);
        // They may have turned out to be no answer.
        if (over.signal.aborted || !words.startsWith(markdown)) return;
        wordsShown = true;
        await channel?.status(conversation, { kind: 'words', markdown }, placeholder);
        if (words !== markdown) showWordsIn(wordsEveryMs);
      }

      function complain(error: unknown): void {
        log.warn({ err: error, part: work.part }, 'what shows the work is not known to the store');
      }

      async function finish(): Promise<void> {
        over.abort(isOver);
        await channel?.status(conversation, undefined, placeholder);
        // A message posted as the other process ended is found where the platform can search.
        if (resumed) await placeholder.posted().catch(complain);
      }

      clock.sleep(instantMs, over.signal).then(
        () => channel.status(conversation, { kind: 'typing' }, placeholder),
        () => undefined,
      );
      showIn(quietMs);
      return {
        progress(text) {
          line = text;
          if (clock.now() - began >= quietMs) show().catch(complain);
        },
        onText(more) {
          words += more;
          showWordsIn(firstWordsMs);
        },
        onWritten(final) {
          // A whole answer goes out by itself.
          wordsAlarm.abort(isOver);
          wordsDue = false;
          if (final) return;
          const wereShown = wordsShown;
          if (wereShown) line = oneLine(words, longestLine);
          words = '';
          wordsShown = false;
          if (wereShown) show().catch(complain);
        },
        end: () => (ended ??= finish()),
      };
    },
  };
}

/** The receipt is stored at once, so that a restart continues with the same message. */
function createPlaceholder(
  { conversation, part, replyTo, asked, resumed, signal }: Work,
  channel: Channel,
  outbox: Pick<Outbox, 'show' | 'shown'>,
): Placeholder {
  // A search for the answer must never find the line.
  const key = `${part}!status`;
  let known: Promise<Receipt | undefined> | undefined;

  async function keep(receipt: Receipt | undefined): Promise<void> {
    // Another process may do the work by now.
    signal.throwIfAborted();
    await outbox.show(part, receipt);
    known = Promise.resolve(receipt);
  }

  async function lookUp(): Promise<Receipt | undefined> {
    const stored = await outbox.shown(part);
    if (stored !== undefined || !resumed) return stored;
    const found = await channel.find(conversation, key);
    // Nobody knows whether it is a line or words: it goes, and the answer is a new message.
    const line = found === undefined ? undefined : { ...found, silent: true as const };
    if (line !== undefined) await outbox.show(part, line);
    return line;
  }

  return {
    key,
    replyTo,
    asked,
    keep,
    async posted() {
      known ??= lookUp();
      try {
        return await known;
      } catch (error) {
        known = undefined;
        throw error;
      }
    },
  };
}

/**
 * For an item without an answer: removes what a person saw, in one step with the item's end if `done` is given (Q6,
 * H7).
 */
export async function removePlaceholder(
  { key, message }: Readonly<{ key: string; message?: Message }>,
  store: Pick<Store, 'commit' | 'outbox'>,
  done: Pick<Step, 'done'> = {},
): Promise<void> {
  const part = partKey(key, 0);
  const shown = message === undefined ? undefined : await store.outbox.shown(part);
  if (message !== undefined && shown !== undefined) {
    const { conversation } = message;
    return store.commit({ ...done, outbox: [{ key: part, conversation, part: { markdown: '' } }] });
  }
  if (done.done !== undefined) await store.commit(done);
}

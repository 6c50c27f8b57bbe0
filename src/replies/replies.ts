import type { Channel } from '../core/channel.ts';
import type { Conversation } from '../core/conversation.ts';
import type { ReplyOptions } from '../core/feature.ts';
import { repliesTo, type Message } from '../core/message.ts';
import { sayIn, type Words } from '../core/texts/say.ts';
import type { Log } from '../lib/log.ts';
import type { Step, Store } from '../store/store.ts';
import type { OutgoingFiles } from './artifacts.ts';
import { createWaitingParts, whereTo } from './private-parts.ts';
import { beginningOf, createWholeAnswer } from './whole-answer.ts';

export function partKey(answer: string, index: number): string {
  return `${answer}#${index}`;
}

/** Answers and other messages of the bot. All go through the outbox (Q6). */
export type Replies = Readonly<{
  /**
   * Outbox rows of a text of any length, split to the channel's size. Buttons go below the last piece. The rows of one
   * `key` are sent once.
   */
  rows(
    conversation: Conversation,
    key: string,
    markdown: string,
    more?: ReplyOptions,
  ): Promise<NonNullable<Step['outbox']>>;
  /**
   * The same for a text that may be very long: its beginning, followed by all of it as a file. Buttons go below the last
   * piece of the beginning.
   */
  whole(
    conversation: Conversation,
    key: string,
    markdown: string,
    more: ReplyOptions,
    language: string | undefined,
  ): Promise<NonNullable<Step['outbox']>>;
  /**
   * Stores an answer and finishes its item in one step. A long answer is its beginning, followed by all of it as a
   * file.
   */
  answer(message: Message, markdown: string, more?: AnswerOptions): Promise<void>;
  /** Sends a text to a conversation, once for each key. */
  say(conversation: Conversation, key: string, markdown: string): Promise<void>;
  /** Sends what waits for this person's direct message, because it could not be shown to them alone elsewhere (U16). */
  release(person: string): Promise<void>;
  /** Writes to the owners in direct messages and in their languages. If none is reachable, it writes to the log. */
  tellOwners(
    key: string,
    words: Words,
    more?: ReplyOptions & Readonly<{ alsoTo?: readonly string[]; wordsToThem?: Words }>,
  ): Promise<void>;
}>;

type AnswerOptions = ReplyOptions &
  Readonly<{
    done?: string;
    entries?: Step['entries'];
    key?: string;
  }>;

type Deps = Readonly<{
  store: Store;
  outgoing: OutgoingFiles;
  channels: ReadonlyMap<string, Channel>;
  owners(): Promise<readonly string[]>;
  languageOf(person: string): Promise<string | undefined>;
  redact(): (text: string) => string;
  log: Log;
}>;

export function createReplies(deps: Deps): Replies {
  const { store, channels, owners, languageOf, redact, log } = deps;
  const wholeAnswer = createWholeAnswer(deps);

  function channelOf({ channel: name }: Conversation): Channel {
    const channel = channels.get(name);
    // An unsplit answer might be too long and be lost.
    if (channel === undefined) throw new Error(`the channel ${name} is not open`);
    return channel;
  }

  async function bounded(
    conversation: Conversation,
    key: string,
    said: string,
    more: ReplyOptions = {},
    language?: string,
  ): Promise<NonNullable<Step['outbox']>> {
    const markdown = redact()(said);
    const channel = channelOf(conversation);
    const { pieces, isWhole } = await beginningOf(markdown, channel.split);
    const shown = rowsOf(pieces, conversation, key, more);
    if (isWhole) return shown;
    const rest = partKey(`${key}!whole`, 0);
    const { place, options, from } = whereTo(conversation, more);
    const { onlyTo, privately } = options;
    const inGroup = from === undefined ? onlyTo : undefined;
    const part = await wholeAnswer({ key: rest, markdown, channel, language, onlyTo: inGroup });
    return [...shown, { key: rest, conversation: place, part: { ...part, onlyTo, privately, from } }];
  }

  return {
    rows: async (conversation, key, markdown, more) =>
      rowsOf(await channelOf(conversation).split(redact()(markdown)), conversation, key, more),
    whole: bounded,
    async answer(message, markdown, more = {}) {
      const replyTo = repliesTo(message);
      const options = { replyTo, ...onlyToSender(message), ...more };
      const key = more.key ?? message.id;
      const outbox = await bounded(message.conversation, key, markdown, options, message.sender.language);
      await store.commit({ outbox, done: more.done, entries: more.entries });
    },
    async say(conversation, key, markdown) {
      await store.commit({ outbox: await bounded(conversation, key, markdown) });
    },
    release: createWaitingParts(store).release,
    async tellOwners(key, words, { alsoTo = [], wordsToThem = words, ...more } = {}) {
      const users = [...new Set([...(await owners()), ...alsoTo])];
      const reachable = users.filter((person) => channels.has(channelNameOf(person)));
      if (reachable.length === 0)
        log.warn({ notice: sayIn(undefined)(words) }, 'there is no owner to tell: set [bot] owner');
      for (const owner of reachable) {
        const conversation = {
          channel: channelNameOf(owner),
          chat: owner.slice(channelNameOf(owner).length + 1),
        };
        const say = sayIn(await languageOf(owner));
        const buttons = more.buttons?.map((button) => ({ ...button, label: say(button.label) }));
        const shown = buttons === undefined ? more : { ...more, buttons };
        const told = say(alsoTo.includes(owner) ? wordsToThem : words);
        await store.commit({ outbox: await bounded(conversation, `${key}:${owner}`, told, shown) });
      }
    },
  };
}

/** Buttons go below the last piece, and only the first piece replies to a message. */
function rowsOf(
  pieces: readonly string[],
  conversation: Conversation,
  key: string,
  more: ReplyOptions = {},
): NonNullable<Step['outbox']> {
  const { place, options, from } = whereTo(conversation, more);
  return pieces.map((piece, index) => ({
    key: partKey(key, index),
    conversation: place,
    part: {
      markdown: piece,
      buttons: index === pieces.length - 1 ? options.buttons : undefined,
      replyTo: index === 0 ? options.replyTo : undefined,
      onlyTo: options.onlyTo,
      privately: options.privately,
      from,
      made: options.made,
      thumbs: index === pieces.length - 1 ? options.thumbs : undefined,
    },
  }));
}

type Asked = Pick<Message, 'chatType' | 'ephemeral' | 'privateReply' | 'sender'> &
  Readonly<{ sentAt?: number }>;

/** Options of a reply that only the sender sees, if the message was ephemeral (H12). */
export function onlyToSender(asked: Asked): ReplyOptions {
  return asked.ephemeral === true ? toSenderAlone(asked) : {};
}

/**
 * Options of a reply that is for the sender alone. With `neutral`, everybody reads that line if nobody alone can be shown
 * the reply; without it the reply goes to the direct message (U16).
 */
export function toSenderAlone(
  { chatType, privateReply, sender, sentAt = 0 }: Asked,
  neutral?: string,
): ReplyOptions {
  if (chatType === 'private') return {};
  const { id, language } = sender;
  const at = privateReply?.at ?? sentAt;
  return { onlyTo: id, privately: { at, reply: privateReply, neutral, language } };
}

function channelNameOf(id: string): string {
  return id.slice(0, id.indexOf(':'));
}

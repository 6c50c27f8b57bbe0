import type { Channel, ChannelEvent, OnEvent, OutgoingPart, Press, Status } from '../../core/channel.ts';
import type { Clock } from '../../lib/clock.ts';
import { noFileToFetch } from '../../channels/save-file.ts';
import { conversationKey, type ChatType, type Conversation } from '../../core/conversation.ts';
import { SendError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import type { ListedItem } from '../../store/inbox.ts';
import type { Store } from '../../store/store.ts';

/** Who sits at a terminal, and in what kind of chat they pretend to be. */
export type Seated = Readonly<{
  user: string;
  as: ChatType;
  /** Somebody watches: a message is tried as often as on any platform. Else anyone who waits is told at once. */
  patient: boolean;
}>;

/** What only the terminal itself can know of what was typed or chosen: who says it, and where, is not for it to say. */
export type Told = Readonly<
  | { message: Pick<Message, 'id' | 'text' | 'command' | 'sentAt'> }
  | { press: Pick<Press, 'id' | 'action' | 'receipt'> }
>;

/** What a terminal shows. */
export type View = Pick<Channel, 'send' | 'edit' | 'remove'> &
  Readonly<{ status(conversation: Conversation, status: Status | undefined): Promise<void> }>;

/** What a terminal is left with. */
export type Unanswered = Readonly<{
  /** Keys of messages that were given up. */
  lost: readonly string[];
  /** Nobody listened to a message, or the model failed over it for good. */
  unanswered: boolean;
}>;

/** A terminal's place in the bot, from when it was given until it is left. */
export type Seat = Readonly<{
  /** Resolves when it is stored: see `OnEvent`. */
  tell(told: Told): Promise<void>;
  /** Cancels what runs for it; false where nothing did. */
  cancel(): Promise<boolean>;
  /** Resolves when what was typed is answered; with somebody patient, or waits for its next try. */
  idle(): Promise<void>;
  /** Tells what was not answered, for somebody who is not patient. */
  leave(): Unanswered;
}>;

/** All terminals of a process as one channel (H5, Q9). */
export type Terminals = Readonly<{
  channel: Channel;
  /** A seat of its own: a second terminal of the same person, or in the same room, gets a thread of its own, so that no two mix. */
  sit(who: Seated, view: View): Seat;
  /** Whether nobody who sent this is patient. */
  isImpatient(key: string): boolean;
  /** To be told of each message that was given up. */
  givenUp(key: string): void;
  /** To be told of each message over which the model failed for good: what it gets is a sentence and no answer. */
  failed(key: string): void;
  /** Whether this person sits at a terminal now. */
  isHere(sender: string): boolean;
  /** Whether somebody patient sits where this conversation is. */
  isWatched(conversation: Conversation): boolean;
}>;

const lookEveryMs = 25;
/** While the bot stops, what waits for a terminal is not tried over and over. */
const afterStopMs = 5_000;

type Taken = Readonly<{
  id: string;
  who: Seated;
  view: View;
  sent: Set<string>;
  lost: Set<string>;
  unanswered: Set<string>;
}>;

/** What is to be sent to a terminal that was left waits for the next one in its place. */
export function createTerminals(options: {
  name: string;
  store: Pick<Store, 'inbox' | 'outbox'>;
  cancel(lane: string): Promise<boolean>;
  /** Puts a file where the person at the terminal can have it, and gives its path. */
  saveFile(conversation: Conversation, file: NonNullable<OutgoingPart['file']>): Promise<string>;
  /** Why nobody listens to who said this, in the operator's words; undefined if somebody does. */
  whyUnheard(message: Message): Promise<string | undefined>;
  clock: Clock;
}): Terminals {
  const { name, store, cancel, saveFile, whyUnheard, clock } = options;
  const seats = new Map<string, Taken>();
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => undefined);
  let onEvent: OnEvent = () => Promise.reject(new Error('the bot has not started yet'));
  let arrival = Promise.withResolvers<void>();
  let last = 0;

  function freePlace({ user, as }: Seated): Conversation {
    const room: Conversation = { channel: name, chat: as === 'private' ? user : as };
    for (let n = 1; ; n++) {
      const place = n === 1 ? room : { ...room, thread: String(n) };
      if (!seats.has(conversationKey(place))) return place;
    }
  }

  async function present(conversation: Conversation): Promise<Taken> {
    for (;;) {
      const seat = seats.get(conversationKey(conversation));
      if (seat !== undefined) return seat;
      await Promise.race([arrival.promise, stopped.promise]);
    }
  }

  const send: Channel['send'] = async (conversation, { file, ...text }, key, begin) => {
    const saved = file && { ...file, path: await saveFile(conversation, file) };
    const part = saved === undefined ? text : { ...text, file: saved };
    for (;;) {
      const seat = await present(conversation);
      await begin?.();
      try {
        const { id } = await seat.view.send(conversation, part, key);
        return { id: `${seat.id}:${id}` };
      } catch (error) {
        if (seats.get(conversationKey(conversation)) === seat) throw error;
      }
    }
  };

  /** The terminal that shows it, if that is still there, and what it calls it. */
  function shownBy(
    conversation: Conversation,
    id: string,
  ): Readonly<{ seat: Taken; id: string }> | undefined {
    const seat = seats.get(conversationKey(conversation));
    return seat !== undefined && id.startsWith(`${seat.id}:`)
      ? { seat, id: id.slice(seat.id.length + 1) }
      : undefined;
  }

  function toEvent(told: Told, seat: Taken, conversation: Conversation): ChannelEvent {
    const { user, as } = seat.who;
    const sender = { id: `terminal:${user}`, name: user, kind: 'person' } as const;
    const common = { conversation, chatType: as, external: false, sender };
    if ('press' in told) {
      const { id, action, receipt } = told.press;
      const shown = receipt && { receipt: { id: `${seat.id}:${receipt.id}` } };
      return { type: 'press', press: { ...common, id, action, ...shown } };
    }
    const { id, text, command, sentAt } = told.message;
    const named = command === undefined ? {} : { command };
    // The key of any other channel's message would be taken for that one.
    if (!id.startsWith('terminal:')) throw new Error('a message of a terminal needs an id of its own');
    const message = { ...common, id, text, ...named, addressed: true, attachments: [], sentAt };
    return { type: 'message', message };
  }

  async function idle(conversation: Conversation, seat: Taken): Promise<void> {
    const lane = conversationKey(conversation);
    const isWork = (item: ListedItem): boolean =>
      (item.lane === lane || item.lane.startsWith(`${lane}~`)) &&
      !(seat.who.patient && item.takenAt === undefined && item.error !== undefined);
    while (seats.get(lane) === seat) {
      const items = await store.inbox.waitingIn(lane);
      if (!items.some(isWork) && (await store.outbox.pending(conversation)) === 0) return;
      await clock.sleep(lookEveryMs);
    }
  }

  return {
    channel: {
      name,
      async start(take) {
        onEvent = take;
      },
      async stop() {
        stopped.reject(new SendError('retry', 'the bot stops', { retryAfterMs: afterStopMs }));
      },
      split: (markdown) => (markdown.trim() === '' ? [] : [markdown]),
      files: { largest: Infinity, fitsCaption: () => true },
      send,
      find: async () => undefined,
      async edit(conversation, receipt, part) {
        const shown = shownBy(conversation, receipt.id);
        const { file: _file, more: _more, ...text } = part;
        if (shown === undefined) await send(conversation, text, receipt.id);
        else await shown.seat.view.edit(conversation, { id: shown.id }, part);
      },
      async remove(conversation, receipt) {
        const shown = shownBy(conversation, receipt.id);
        await shown?.seat.view.remove(conversation, { id: shown.id });
      },
      async status(conversation, status) {
        await seats.get(conversationKey(conversation))?.view.status(conversation, status);
      },
      fetchFile: noFileToFetch,
      setMenus: async () => [],
      lookUpChat: async (conversation) => ({
        chatType: seats.get(conversationKey(conversation))?.who.as ?? 'unknown',
        external: false,
      }),
      command: (_, name, args = '') => `\`${`/${name} ${args}`.trim()}\``,
      directLink: () => undefined,
    },
    sit(who, view) {
      const conversation = freePlace(who);
      const lane = conversationKey(conversation);
      const seat: Taken = {
        id: String(++last),
        who,
        view,
        sent: new Set(),
        lost: new Set(),
        unanswered: new Set(),
      };
      seats.set(lane, seat);
      arrival.resolve();
      arrival = Promise.withResolvers();
      return {
        async tell(told) {
          const event = toEvent(told, seat, conversation);
          if (event.type === 'message') seat.sent.add(event.message.id);
          await onEvent(event);
          if (event.type !== 'message') return;
          // Who tries access rules here is the operator, to whom silence says nothing.
          const why = await whyUnheard(event.message);
          if (why === undefined) return;
          if (!who.patient) seat.unanswered.add(event.message.id);
          await view.send(conversation, { markdown: `(Not heard: ${why}.)` }, `${event.message.id}!unheard`);
        },
        cancel: () => cancel(lane),
        idle: () => idle(conversation, seat),
        leave() {
          if (seats.get(lane) === seat) seats.delete(lane);
          return { lost: [...seat.lost], unanswered: seat.unanswered.size > 0 };
        },
      };
    },
    isImpatient: (key) => seats.values().some(({ who, sent }) => !who.patient && sent.has(key)),
    givenUp(key) {
      for (const { who, sent, lost } of seats.values()) if (!who.patient && sent.has(key)) lost.add(key);
    },
    failed(key) {
      for (const { who, sent, unanswered } of seats.values())
        if (!who.patient && sent.has(key)) unanswered.add(key);
    },
    isWatched: (conversation) => seats.get(conversationKey(conversation))?.who.patient === true,
    isHere: (sender) => seats.values().some(({ who }) => `terminal:${who.user}` === sender),
  };
}

import type { Channel, ChannelEvent, OnEvent, OutgoingPart, Press, Status } from '../../core/channel.ts';
import type { Clock } from '../../lib/clock.ts';
import { noFileToFetch } from '../../channels/save-file.ts';
import { conversationKey, type ChatType, type Conversation } from '../../core/conversation.ts';
import { SendError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import type { ListedItem } from '../../store/inbox.ts';
import type { Store } from '../../store/store.ts';

export type Seated = Readonly<{
  user: string;
  as: ChatType;
  /** A person watches: messages are retried. Else failures are reported at once. */
  patient: boolean;
}>;

export type Told = Readonly<
  | { message: Pick<Message, 'id' | 'text' | 'command' | 'sentAt'> }
  | { press: Pick<Press, 'id' | 'action' | 'receipt'> }
>;

export type View = Pick<Channel, 'send' | 'edit' | 'remove'> &
  Readonly<{ status(conversation: Conversation, status: Status | undefined): Promise<void> }>;

export type Unanswered = Readonly<{
  lost: readonly string[];
  unanswered: boolean;
}>;

export type Seat = Readonly<{
  /** Resolves when it is stored. */
  tell(told: Told): Promise<void>;
  cancel(): Promise<boolean>;
  /** All is answered, or waits for a retry if somebody is patient. */
  idle(): Promise<void>;
  leave(): Unanswered;
}>;

/** (H5, Q9) */
export type Terminals = Readonly<{
  channel: Channel;
  /** A second one of the same person or room gets its own thread. */
  sit(who: Seated, view: View): Seat;
  isImpatient(key: string): boolean;
  givenUp(key: string): void;
  failed(key: string): void;
  isHere(sender: string): boolean;
  isWatched(conversation: Conversation): boolean;
}>;

const lookEveryMs = 25;
/** So that stopping does not retry sends. */
const afterStopMs = 5_000;

type Taken = Readonly<{
  id: string;
  who: Seated;
  view: View;
  sent: Set<string>;
  lost: Set<string>;
  unanswered: Set<string>;
}>;

/** What is sent to a closed terminal waits for the next one in its place. */
export function createTerminals(options: {
  name: string;
  store: Pick<Store, 'inbox' | 'outbox'>;
  cancel(lane: string): Promise<boolean>;
  saveFile(conversation: Conversation, file: NonNullable<OutgoingPart['file']>): Promise<string>;
  /** Undefined if somebody listens. */
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
    // Else it could be another channel's key.
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
          // Here the operator tries access rules.
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

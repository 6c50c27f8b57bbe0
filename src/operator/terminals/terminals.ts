import type { Channel, ChannelEvent, OnEvent, OutgoingPart, Press, ChatStatus } from '../../core/channel.ts';
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
  /** True if a person watches, so that messages are retried. Otherwise failures are reported at once. */
  patient: boolean;
}>;

export type Told = Readonly<
  | { message: Pick<Message, 'id' | 'text' | 'command' | 'sentAt'> }
  | { press: Pick<Press, 'id' | 'action' | 'receipt'> }
>;

export type TerminalView = Pick<Channel, 'send' | 'edit' | 'remove'> &
  Readonly<{ status(conversation: Conversation, status: ChatStatus | undefined): Promise<void> }>;

type Unanswered = Readonly<{
  lost: readonly string[];
  unanswered: boolean;
}>;

export type Seat = Readonly<{
  /** Takes a message or a press. Resolves once it is stored. */
  tell(told: Told): Promise<void>;
  cancel(): Promise<boolean>;
  /** Resolves once everything is answered. For a patient terminal, what waits for a retry counts as answered. */
  idle(): Promise<void>;
  leave(): Unanswered;
}>;

/** All terminals of a process as one channel (H5, Q9). */
export type Terminals = Readonly<{
  channel: Channel;
  /** Adds a terminal. A second one of the same person or room gets a thread of its own. */
  sit(who: Seated, view: TerminalView): Seat;
  isImpatient(key: string): boolean;
  givenUp(key: string): void;
  failed(key: string): void;
  isHere(sender: string): boolean;
  isWatched(conversation: Conversation): boolean;
}>;

const lookEveryMs = 25;
/** Milliseconds after which a send is tried again that was cut off by stopping. */
const afterStopMs = 5_000;

type Taken = Readonly<{
  id: string;
  who: Seated;
  view: TerminalView;
  sent: Set<string>;
  lost: Set<string>;
  unanswered: Set<string>;
}>;

/** Makes the channel. What is sent to a closed terminal waits for the next one in its place. */
export function createTerminals(options: {
  name: string;
  store: Store;
  cancel(queue: string): Promise<boolean>;
  saveFile(conversation: Conversation, file: NonNullable<OutgoingPart['file']>): Promise<string>;
  /** Why nobody listens to this message. Undefined if somebody does. */
  whyUnheard(message: Message): Promise<string | undefined>;
  clock: Clock;
}): Terminals {
  const { name, cancel, saveFile, whyUnheard } = options;
  const seats = createSeats(name);
  let onEvent: OnEvent = () => Promise.reject(new Error('the bot has not started yet'));

  async function tell(told: Told, seat: Taken, place: Conversation): Promise<void> {
    const event = toEvent(told, seat, place);
    if (event.type !== 'message') return onEvent(event);
    const { id } = event.message;
    seat.sent.add(id);
    await onEvent(event);
    // Operators try access rules here, so they are told when a rule keeps a message from being heard.
    const why = await whyUnheard(event.message);
    if (why === undefined) return;
    if (!seat.who.patient) seat.unanswered.add(id);
    await seat.view.send(place, { markdown: `(Not heard: ${why}.)` }, `${id}!unheard`);
  }

  const impatient = (key: string): readonly Taken[] =>
    [...seats.all()].filter(({ who, sent }) => !who.patient && sent.has(key));

  return {
    channel: createChannel(name, seats, saveFile, (take) => {
      onEvent = take;
    }),
    sit(who, view) {
      const { place, seat } = seats.take(who, view);
      return {
        tell: (told) => tell(told, seat, place),
        cancel: () => cancel(conversationKey(place)),
        idle: () => idle(place, seat, seats, options),
        leave() {
          seats.leave(place, seat);
          return { lost: [...seat.lost], unanswered: seat.unanswered.size > 0 };
        },
      };
    },
    isImpatient: (key) => impatient(key).length > 0,
    givenUp(key) {
      for (const { lost } of impatient(key)) lost.add(key);
    },
    failed(key) {
      for (const { unanswered } of impatient(key)) unanswered.add(key);
    },
    isWatched: (conversation) => seats.at(conversation)?.who.patient === true,
    isHere: (sender) => seats.all().some(({ who }) => `terminal:${who.user}` === sender),
  };
}

type TerminalOptions = Parameters<typeof createTerminals>[0];
type Seats = ReturnType<typeof createSeats>;

function createSeats(name: string) {
  const seats = new Map<string, Taken>();
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => undefined);
  let arrival = Promise.withResolvers<void>();
  let last = 0;
  const at = (place: Conversation): Taken | undefined => seats.get(conversationKey(place));

  function freePlace({ user, as }: Seated): Conversation {
    const room: Conversation = { channel: name, chat: as === 'private' ? user : as };
    for (let n = 1; ; n++) {
      const place = n === 1 ? room : { ...room, thread: String(n) };
      if (at(place) === undefined) return place;
    }
  }

  return {
    at,
    all: () => seats.values(),
    take(who: Seated, view: TerminalView): Readonly<{ place: Conversation; seat: Taken }> {
      const place = freePlace(who);
      const id = String(++last);
      const seat: Taken = { id, who, view, sent: new Set(), lost: new Set(), unanswered: new Set() };
      seats.set(conversationKey(place), seat);
      arrival.resolve();
      arrival = Promise.withResolvers();
      return { place, seat };
    },
    leave(place: Conversation, seat: Taken): void {
      if (at(place) === seat) seats.delete(conversationKey(place));
    },
    async present(place: Conversation): Promise<Taken> {
      for (;;) {
        const seat = at(place);
        if (seat !== undefined) return seat;
        await Promise.race([arrival.promise, stopped.promise]);
      }
    },
    stop(reason: Error): void {
      stopped.reject(reason);
    },
  };
}

function createChannel(
  name: string,
  seats: Seats,
  saveFile: TerminalOptions['saveFile'],
  onStart: (take: OnEvent) => void,
): Channel {
  const send: Channel['send'] = async (conversation, { file, ...text }, key, begin) => {
    const saved = file && { ...file, path: await saveFile(conversation, file) };
    const part = saved === undefined ? text : { ...text, file: saved };
    for (;;) {
      const seat = await seats.present(conversation);
      await begin?.();
      try {
        const { id } = await seat.view.send(conversation, part, key);
        return { id: `${seat.id}:${id}` };
      } catch (error) {
        if (seats.at(conversation) === seat) throw error;
      }
    }
  };

  return {
    name,
    async start(take) {
      onStart(take);
    },
    async stop() {
      seats.stop(new SendError('retry', 'the bot stops', { retryAfterMs: afterStopMs }));
    },
    split: async (markdown) => (markdown.trim() === '' ? [] : [markdown]),
    files: { largest: Infinity, fitsCaption: () => true },
    send,
    find: async () => undefined,
    async edit(conversation, receipt, part) {
      const shown = shownBy(seats.at(conversation), receipt.id);
      const { file: _file, more: _more, ...text } = part;
      if (shown === undefined) await send(conversation, text, receipt.id);
      else await shown.view.edit(conversation, { id: shown.id }, part);
    },
    async remove(conversation, receipt) {
      const shown = shownBy(seats.at(conversation), receipt.id);
      await shown?.view.remove(conversation, { id: shown.id });
    },
    async status(conversation, status) {
      await seats.at(conversation)?.view.status(conversation, status);
    },
    fetchFile: noFileToFetch,
    setMenus: async () => [],
    async lookUpChat(conversation) {
      const { as = 'unknown', user } = seats.at(conversation)?.who ?? {};
      return { chatType: as, external: false, person: as === 'private' ? `terminal:${user}` : undefined };
    },
    command: (_, name, args = '') => `\`${`/${name} ${args}`.trim()}\``,
    directLink: () => undefined,
  };
}

function shownBy(
  seat: Taken | undefined,
  id: string,
): Readonly<{ view: TerminalView; id: string }> | undefined {
  return seat !== undefined && id.startsWith(`${seat.id}:`)
    ? { view: seat.view, id: id.slice(seat.id.length + 1) }
    : undefined;
}

function toEvent(
  told: Told,
  seat: Taken,
  conversation: Conversation,
): Extract<ChannelEvent, { type: 'message' | 'press' }> {
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
  // Any other id could be the key of another channel's message.
  if (!id.startsWith('terminal:')) throw new Error('a message of a terminal needs an id of its own');
  const message = { ...common, id, text, ...named, addressed: true, attachments: [], sentAt };
  return { type: 'message', message };
}

async function idle(
  place: Conversation,
  seat: Taken,
  seats: Seats,
  { store, clock }: TerminalOptions,
): Promise<void> {
  const queue = conversationKey(place);
  const isWork = (item: ListedItem): boolean =>
    (item.queue === queue || item.queue.startsWith(`${queue}~`)) &&
    !(seat.who.patient && item.takenAt === undefined && item.error !== undefined);
  while (seats.at(place) === seat) {
    const items = await store.inbox.waitingIn(queue);
    if (!items.some(isWork) && (await store.outbox.pending(place)) === 0) return;
    await clock.sleep(lookEveryMs);
  }
}

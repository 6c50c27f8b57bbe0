import type { Clock } from '../../../src/lib/clock.ts';

/** One event for the bot. `chat` is the queue it waits in when a webhook delivers. */
export type QueuedUpdate = Readonly<{
  id: number;
  kind: string;
  chat: number | undefined;
  body: Readonly<Record<string, unknown>>;
  expiresAt: number;
}>;

const dayMs = 24 * 60 * 60 * 1000;

/** Kinds that come only when they are asked for by name. */
const onRequest = ['chat_member', 'message_reaction', 'message_reaction_count'];

export type UpdateQueue = Readonly<{
  /** Adds an event, unless the bot did not ask for its kind. Gives the update's id. */
  add(kind: string, payload: object, chat: number | undefined): number | undefined;
  /** Adds the same body under its old id again. */
  repeat(update: QueuedUpdate): void;
  /** Waiting updates from `offset` on; a positive offset forgets those before it, a negative one all but the last. */
  take(offset: number, limit: number): readonly QueuedUpdate[];
  remove(update: QueuedUpdate): void;
  clear(): void;
  waiting(): readonly QueuedUpdate[];
  /** The first update of each chat. */
  heads(): readonly QueuedUpdate[];
  /** Sticky; `[]` means the default again. */
  allow(kinds: readonly string[]): void;
  allowed(): readonly string[];
  /** Ids start anew, lower than they were: what a quiet week does. */
  renumber(): void;
}>;

/** Ids are 32-bit, begin at a random place and grow by one; events live for a day. `arrived` and `forgotten` are told. */
export function createUpdateQueue(options: {
  clock: Clock;
  arrived: () => void;
  forgotten: () => void;
}): UpdateQueue {
  const { clock, arrived, forgotten } = options;
  const state = { next: randomStart(2_000_001, 1_070_000_000), allowed: [] as readonly string[] };
  let queue: QueuedUpdate[] = [];

  const live = (): QueuedUpdate[] => {
    queue = queue.filter(({ expiresAt }) => expiresAt > clock.now());
    return queue;
  };
  const wanted = (kind: string): boolean =>
    state.allowed.length === 0 ? !onRequest.includes(kind) : state.allowed.includes(kind);

  return {
    add(kind, payload, chat) {
      if (!wanted(kind)) return undefined;
      const id = state.next++;
      const body = { update_id: id, [kind]: structuredClone(payload) };
      queue.push({ id, kind, chat, body, expiresAt: clock.now() + dayMs });
      arrived();
      return id;
    },
    repeat(update) {
      queue.push(update);
      arrived();
    },
    take(offset, limit) {
      if (offset < 0) queue = live().slice(offset);
      const first = live()[0]?.id ?? 0;
      // An offset from before the ids were drawn anew lies beyond everything: the queue's own start is meant.
      const beyond = offset > state.next;
      if (offset > first && !beyond) queue = queue.filter(({ id }) => id >= offset);
      forgotten();
      return queue.slice(0, limit);
    },
    remove(update) {
      queue = queue.filter((other) => other !== update);
      forgotten();
    },
    clear() {
      queue = [];
    },
    waiting: () => live(),
    heads() {
      const seen = new Set<number | undefined>();
      return live().filter(({ chat }) => !seen.has(chat) && seen.add(chat));
    },
    allow(kinds) {
      state.allowed = kinds;
    },
    allowed: () => state.allowed,
    renumber() {
      state.next = randomStart(1000, 2_000_000);
    },
  };
}

function randomStart(from: number, to: number): number {
  return from + Math.floor(Math.random() * (to - from));
}

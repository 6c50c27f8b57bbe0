import type Keyv from 'keyv';
import { chatIdOf, type Conversation } from '../core/conversation.ts';
import type { Clock } from '../lib/clock.ts';
import type { Signals } from '../store/signals.ts';

/** Remembers new ids of chats, so that a chat keeps its rules and memory (A6). Ids are qualified. */
export type ChatMigrations = Readonly<{
  /** Records a move. False if it was known already. */
  remember(from: string, to: string): Promise<boolean>;
  /** Earlier ids of the chat, newest first. */
  formerIds(conversation: Conversation): Promise<readonly string[]>;
  /** The same conversation under the newest id of its chat. */
  current(conversation: Conversation): Promise<Conversation>;
  /** The same conversation under the chat's first id, which is the key of its memory. */
  original(conversation: Conversation): Promise<Conversation>;
}>;

/** More moves than this are a fault or an attack. */
const longestChain = 4;

/** Moves are read again after this time, in case a signal was lost. */
const rereadMs = 30_000;

/** Keeps moves in memory because every message asks for them, and signals new ones to other processes (Q9). */
export function createChatMigrations(options: {
  stored: Keyv;
  signals: Signals;
  clock: Clock;
}): ChatMigrations {
  const { stored, signals, clock } = options;
  let known: Readonly<{ moves: Promise<ReadonlyMap<string, string>>; at: number }> | undefined;
  signals.on('moved', () => (known = undefined));

  function moves(): Promise<ReadonlyMap<string, string>> {
    if (known === undefined || Math.abs(clock.now() - known.at) > rereadMs) {
      const reading = read();
      known = { moves: reading, at: clock.now() };
      // A failure is not kept, so the next call reads again.
      reading.catch(() => (known = undefined));
    }
    return known.moves;
  }

  async function read(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for await (const [key, value] of stored.iterator()) found.set(String(key), String(value));
    return found;
  }

  async function follow(direction: 'from' | 'to', id: string): Promise<readonly string[]> {
    const all = await moves();
    const chain: string[] = [];
    for (let next: string | undefined = id; chain.length < longestChain;) {
      next = all.get(`${direction}:${next}`);
      if (next === undefined || next === id || chain.includes(next)) break;
      chain.push(next);
    }
    return chain;
  }

  async function end(direction: 'from' | 'to', conversation: Conversation): Promise<Conversation> {
    const last = (await follow(direction, chatIdOf(conversation))).at(-1);
    return last === undefined
      ? conversation
      : { ...conversation, chat: last.slice(conversation.channel.length + 1) };
  }
  return {
    async remember(from, to) {
      if ((await stored.get(`to:${from}`)) === to) return false;
      await stored.set(`to:${from}`, to);
      await stored.set(`from:${to}`, from);
      known = undefined;
      await signals.send('moved', to);
      return true;
    },
    formerIds: (conversation) => follow('from', chatIdOf(conversation)),
    current: (conversation) => end('to', conversation),
    original: (conversation) => end('from', conversation),
  };
}

/**
 * Whether `entry` names this id, as in `-100123` or `telegram:-100123`. It compares exactly: names and another case do
 * not match (A4, A9).
 */
export function meansId(entry: string, id: string): boolean {
  return entry === id || (!entry.includes(':') && entry === id.slice(id.indexOf(':') + 1));
}

export function listsId(entries: readonly string[], id: string): boolean {
  return entries.some((entry) => meansId(entry, id));
}

import type Keyv from 'keyv';
import { chatIdOf, type Conversation } from '../core/conversation.ts';
import type { Clock } from '../lib/clock.ts';
import type { Signals } from '../store/signals.ts';

/** Chats with a new id keep rules and memory (A6). Qualified ids. */
export type ChatMigrations = Readonly<{
  /** False if this move was known. */
  remember(from: string, to: string): Promise<boolean>;
  /** Nearest first. */
  formerIds(conversation: Conversation): Promise<readonly string[]>;
  /** With the chat's newest id. */
  current(conversation: Conversation): Promise<Conversation>;
  /** With its first id, the key of its memory. */
  original(conversation: Conversation): Promise<Conversation>;
}>;

/** Longer: a fault or an attack. */
const longestChain = 4;

/** In case of a lost signal. */
const rereadMs = 30_000;

/** In memory, as every message asks; signals other processes (Q9). */
export function createChatMigrations(options: {
  stored: Keyv;
  signals: Pick<Signals, 'send' | 'on'>;
  clock: Clock;
}): ChatMigrations {
  const { stored, signals, clock } = options;
  let known: Readonly<{ moves: Promise<ReadonlyMap<string, string>>; at: number }> | undefined;
  signals.on('moved', () => (known = undefined));

  function moves(): Promise<ReadonlyMap<string, string>> {
    if (known === undefined || Math.abs(clock.now() - known.at) > rereadMs) {
      const reading = read();
      known = { moves: reading, at: clock.now() };
      // A failure is not cached.
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

/** `-100123` or `telegram:-100123`. Exact: no names, no case folding (A4, A9). */
export function meansId(entry: string, id: string): boolean {
  return entry === id || (!entry.includes(':') && entry === id.slice(id.indexOf(':') + 1));
}

export function listsId(entries: readonly string[], id: string): boolean {
  return entries.some((entry) => meansId(entry, id));
}

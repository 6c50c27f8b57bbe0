import type Keyv from 'keyv';
import { chatIdOf, type Conversation } from '../core/conversation.ts';
import type { Clock } from '../lib/clock.ts';
import type { Signals } from '../store/signals.ts';

/** Chats whose platform gave them a new id: their rules and their memory stay (A6). Ids are qualified. */
export type ChatMigrations = Readonly<{
  /** False when this move was known already. */
  remember(from: string, to: string): Promise<boolean>;
  /** Ids the chat had before, nearest first. */
  formerIds(conversation: Conversation): Promise<readonly string[]>;
  /** The same conversation under its chat's newest id. */
  current(conversation: Conversation): Promise<Conversation>;
  /** The same conversation under its chat's first id: what its memory is kept under. */
  original(conversation: Conversation): Promise<Conversation>;
}>;

/** Platforms move a chat once; a longer chain would be a fault or an attack. */
const longestChain = 4;

/** Known moves are read again after so long, should a word of a new one have been missed. */
const rereadMs = 30_000;

/** Moves are few and asked for with every message, so they are kept in memory; other processes are told of a new one (Q9). */
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
      // Asked again after a fault, instead of remembering it.
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
 * Whether one entry of a config list means this id. Entries are bare (`-100123`) or qualified
 * (`telegram:-100123`); ids are always qualified. Ids are compared exactly: no names, no case folding (A4, A9).
 */
export function meansId(entry: string, id: string): boolean {
  return entry === id || (!entry.includes(':') && entry === id.slice(id.indexOf(':') + 1));
}

export function listsId(entries: readonly string[], id: string): boolean {
  return entries.some((entry) => meansId(entry, id));
}

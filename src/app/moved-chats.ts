import type Keyv from 'keyv';
import { chatIdOf, type Conversation } from '../core/conversation.ts';

/** Chats whose platform gave them a new id: their rules and their memory stay (A6). Ids are qualified. */
export type MovedChats = Readonly<{
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

export function createMovedChats(stored: Keyv): MovedChats {
  async function follow(direction: 'from' | 'to', id: string): Promise<readonly string[]> {
    const chain: string[] = [];
    for (let next: string | undefined = id; chain.length < longestChain;) {
      next = await stored.get<string>(`${direction}:${next}`);
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
      return true;
    },
    formerIds: (conversation) => follow('from', chatIdOf(conversation)),
    current: (conversation) => end('to', conversation),
    original: (conversation) => end('from', conversation),
  };
}

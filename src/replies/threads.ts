import type { ThreadPartners } from '../core/conversation.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import type { Store } from '../store/store.ts';

/** How long a thread is remembered: as long as outbox rows. */
const rememberMs = 7 * 24 * 3_600_000;

/** Threads in which the bot has answered: replies there need no mention (H4). */
export type AnsweredThreads = Readonly<{
  add(message: Message): Promise<void>;
  has(conversation: Message['conversation']): Promise<boolean>;
}>;

export function createAnsweredThreads(store: Store): AnsweredThreads {
  const threads = store.keyed('threads');
  return {
    async add({ conversation, ephemeral }) {
      if (conversation.thread === undefined || ephemeral === true) return;
      await threads.set(conversationKey(conversation), true, rememberMs);
    },
    has: async (conversation) => (await threads.get(conversationKey(conversation))) !== undefined,
  };
}

/** Who talks with the bot in each thread, shared by all processes (H11). */
export function createThreadPartners(
  store: Store,
): ThreadPartners & Readonly<{ forget(sender: string): Promise<void> }> {
  const partners = store.keyed('thread-partners');
  return {
    get: async (conversation) => (await partners.get<string>(conversationKey(conversation))) ?? undefined,
    async set(conversation, sender) {
      const key = conversationKey(conversation);
      await (sender === undefined ? partners.delete(key) : partners.set(key, sender, rememberMs));
    },
    /** Removes what is kept about a person (Q12). */
    async forget(sender) {
      const theirs: string[] = [];
      for await (const [key, partner] of partners.iterator())
        if (partner === sender) theirs.push(String(key));
      for (const key of theirs) await partners.delete(key);
    },
  };
}

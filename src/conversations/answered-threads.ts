import { conversationKey } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import type { Store } from '../store/store.ts';

/** Threads in which the bot itself answered: a reply there continues the thread (H4). */
export type AnsweredThreads = Readonly<{
  add(message: Message): Promise<void>;
  has(conversation: Message['conversation']): Promise<boolean>;
}>;

/** As long as outbox rows. */
const rememberMs = 7 * 24 * 3_600_000;

export function createAnsweredThreads(store: Pick<Store, 'keyed'>): AnsweredThreads {
  const threads = store.keyed('threads');
  return {
    async add({ conversation, ephemeral }) {
      if (conversation.thread === undefined || ephemeral === true) return;
      await threads.set(conversationKey(conversation), true, rememberMs);
    },
    has: async (conversation) => (await threads.get(conversationKey(conversation))) !== undefined,
  };
}

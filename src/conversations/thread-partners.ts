import type { ThreadPartners } from '../core/channel.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Store } from '../store/store.ts';

/** As long as outbox rows. */
const rememberMs = 7 * 24 * 3_600_000;

/** Who talks with the bot in a thread, for all processes (H11). */
export function createThreadPartners(store: Pick<Store, 'keyed'>): ThreadPartners {
  const partners = store.keyed('thread-partners');
  return {
    get: async (conversation) => (await partners.get<string>(conversationKey(conversation))) ?? undefined,
    async set(conversation, sender) {
      const key = conversationKey(conversation);
      await (sender === undefined ? partners.delete(key) : partners.set(key, sender, rememberMs));
    },
  };
}

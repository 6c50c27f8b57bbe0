import type { ChatMigrations } from '../../src/access/chat-migrations.ts';

/** Chats none of which ever got a new id. */
export const unmovedChats: ChatMigrations = {
  remember: async () => false,
  formerIds: async () => [],
  current: async (conversation) => conversation,
  original: async (conversation) => conversation,
};

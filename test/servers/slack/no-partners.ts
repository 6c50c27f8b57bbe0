import type { ThreadPartners } from '../../../src/core/conversation.ts';

/** Nobody talks with the bot in any thread. */
export const noPartners: ThreadPartners = { get: async () => undefined, set: async () => undefined };

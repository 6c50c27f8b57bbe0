import type { ThreadPartners } from '../../../src/channels/slack/slack-options.ts';

/** Nobody talks with the bot in any thread. */
export const noPartners: ThreadPartners = { get: async () => undefined, set: async () => undefined };

import { z } from 'zod';
import { admittedUserId, chatId, groupUserId, wrongChat } from './id.ts';
import { section } from './section.ts';

const dm = z.enum(['pairing', 'allowlist', 'open']);
const groupsMode = z.enum(['allowlist', 'open']);
const mention = z.enum(['required', 'always']);

const level = section({
  users: z.array(admittedUserId).optional(),
  groups: z.array(chatId).optional(),
  group_users: z.array(groupUserId).optional(),
  dm: dm.optional(),
  groups_mode: groupsMode.optional(),
  mention: mention.optional(),
});

/** `[access]`: who may talk to the bot (A9). `group_users` has no default: set and empty it admits nobody. */
export const accessSection = section(
  {
    users: z.array(admittedUserId).default([]),
    groups: z.array(chatId).default([]),
    group_users: z.array(groupUserId).optional(),
    dm: dm.default('pairing'),
    groups_mode: groupsMode.default('allowlist'),
    mention: mention.default('required'),
    telegram: level.optional(),
    slack: level.optional(),
    chats: z.record(z.string(), level).default({}),
  },
  ({ chats }, complain) => {
    if (typeof chats !== 'object' || chats === null) return;
    for (const id of Object.keys(chats)) {
      const wrong = wrongChat(id);
      if (wrong !== undefined) complain(['chats', id], wrong);
    }
  },
);

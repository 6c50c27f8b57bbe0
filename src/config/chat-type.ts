import { z } from 'zod';
import type { ChatType } from '../core/conversation.ts';

const normalForms = {
  private: 'private',
  group: 'group',
  channel: 'channel',
  supergroup: 'group',
  dm: 'private',
  im: 'private',
  mpim: 'group',
} as const satisfies Record<string, ChatType>;

/** A chat type; the platforms' own words are read as their normal form (A1). */
export const chatType = z.codec(
  z.enum(Object.keys(normalForms) as (keyof typeof normalForms)[], {
    error: 'write "private", "group" or "channel"',
  }),
  z.custom<ChatType>(),
  { decode: (word) => normalForms[word], encode: (type) => type },
);

import type { Conversation, SeenChatType } from './conversation.ts';
import type { Taint } from './entry.ts';
import type { WordOrigin } from './provenance.ts';

/** Where a memory is used (K1). `person`: in its author's direct messages. `chat`: in that chat. `team`: everywhere. */
export const memoryScopes = ['person', 'chat', 'team'] as const;
export type MemoryScope = (typeof memoryScopes)[number];

/** A memory has at most this many characters (K1). */
export const longestMemory = 500;

export type Memory = Readonly<{
  id: string;
  text: string;
  scope: MemoryScope;
  /** Qualified id of the person who had it noted. */
  author: string;
  authorName: string;
  /** Where it was noted, by the chat's first id (A6). */
  chat: string;
  /** True if nobody else could read it there: it was said in a direct message or by an ephemeral command (K2). */
  isPrivate: boolean;
  /** True if an approver agreed, which `team` requires. */
  isApproved: boolean;
  /** The platform's id of the message in which it was said. */
  source?: string;
  taint?: Taint;
  /** Whose words the text is; undefined if it is unknown (S13). */
  from?: WordOrigin;
  at: number;
}>;

/** Who wants to do what with a memory, and where. */
export type MemoryUse = Readonly<{
  /** `list` is an operator who looks at what `sender` noted. */
  what: 'show' | 'write' | 'forget' | 'list';
  /** True if both the config and the settings of this chat allow memory. */
  isOn: boolean;
  chatType: SeenChatType;
  /** Qualified ids of the chat, newest first (A6). */
  chatIds: readonly string[];
  external: boolean;
  /** True if only the sender sees the answer (H12). */
  ephemeral: boolean;
  sender: string;
  /** True if the sender is an owner or approver. */
  manages: boolean;
}>;

/** Who holds a memory: a person in their direct messages, a chat, or everybody. It is found nowhere else. */
export type Holder = `person ${string}` | `chat ${string}` | 'team';

export function holderOf({ scope, author, chat }: Memory): Holder {
  if (scope === 'team') return 'team';
  return scope === 'person' ? `person ${author}` : `chat ${chat}`;
}

/** What a person wrote to the bot, or its answer, as it can be found again (K5). */
export type SearchableText = Readonly<{
  holder: Holder;
  transcript: string;
  conversation: Conversation;
  /** Qualified id of the person whose turn it was. */
  asker: string;
  /** Qualified id of who wrote it; undefined if the bot did. */
  author?: string;
  name: string;
  /** The platform's id of the message, where the platform has one. */
  source?: string;
  text: string;
  at: number;
}>;

import type { Conversation, SeenChatType } from './conversation.ts';
import type { Taint } from './entry.ts';
import type { Origin } from './provenance.ts';

/** `person`: in their direct messages. `chat`: in that chat. `team`: everywhere (K1). */
export const memoryScopes = ['person', 'chat', 'team'] as const;
export type MemoryScope = (typeof memoryScopes)[number];

/** Characters of one memory (K1). */
export const longestMemory = 500;

export type Memory = Readonly<{
  id: string;
  text: string;
  scope: MemoryScope;
  /** Who had it noted; qualified. */
  author: string;
  authorName: string;
  /** Where, by the chat's first id (A6). */
  chat: string;
  /** Said where others could not read it: in a direct message, or by an ephemeral command (K2). */
  isPrivate: boolean;
  /** An approver agreed; `team` needs it. */
  isApproved: boolean;
  /** The platform's id of the message. */
  source?: string;
  marks?: Taint;
  /** Whose words it has (S13). */
  from?: Origin;
  at: number;
}>;

/** Who wants to do what with a memory, and where. */
export type MemoryUse = Readonly<{
  /** `list`: an operator, of `sender`'s own. */
  what: 'show' | 'write' | 'forget' | 'list';
  /** By config, and by the settings of this chat. */
  isOn: boolean;
  chatType: SeenChatType;
  /** Qualified, newest first (A6). */
  chatIds: readonly string[];
  external: boolean;
  /** Only the sender sees the answer (H12). */
  ephemeral: boolean;
  sender: string;
  /** An owner or approver. */
  manages: boolean;
}>;

/** Of a person's direct messages, of a chat, or of everybody: what is kept there is found nowhere else. */
export type Holder = `person ${string}` | `chat ${string}` | 'team';

export function holderOf({ scope, author, chat }: Pick<Memory, 'scope' | 'author' | 'chat'>): Holder {
  if (scope === 'team') return 'team';
  return scope === 'person' ? `person ${author}` : `chat ${chat}`;
}

/** What a person wrote to the bot, or its answer, as it can be found again (K5). */
export type Said = Readonly<{
  holder: Holder;
  transcript: string;
  conversation: Conversation;
  /** Whose turn it was. */
  asker: string;
  /** Absent: the bot. */
  author?: string;
  name: string;
  /** The platform's id of the message. */
  source?: string;
  text: string;
  at: number;
}>;

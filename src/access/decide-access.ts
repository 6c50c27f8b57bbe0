import { listsId } from './chat-id.ts';
import type { SeenChatType } from '../core/conversation.ts';

/** Who wants to use something, and where. */
export type Use = Readonly<{
  chatType: SeenChatType;
  /** Qualified; a migrated group's new id first, then the ids it had (A6). */
  chatIds: readonly string[];
  external: boolean;
  /** Sender id. */
  sender: string;
}>;

/** Where something may be used, and by whom. Ids are bare or qualified. */
export type AccessRules = Readonly<{
  chatTypes: readonly SeenChatType[];
  /** Not where people of other workspaces read along. */
  sensitive: boolean;
  /** Absent: in every chat of these types. Empty: in none. */
  chats?: readonly string[] | undefined;
  /** Absent: everybody who may talk to the bot. Empty: nobody. */
  users?: readonly string[] | undefined;
}>;

/** Why these rules keep somebody from using `name` here, for the operator; nothing where they do not (A2, A4, A7, X7). */
export function whyNoAccess(name: string, rules: AccessRules, use: Use): string | undefined {
  if (!rules.chatTypes.includes(use.chatType)) {
    const those = rules.chatTypes.join(', ') || 'no';
    return `${name} is for ${those} chats; this one is ${use.chatType}`;
  }
  // Not `use.external` alone: a use that lost the field must not pass.
  if (rules.sensitive && use.external !== false)
    return `${name} is sensitive and this chat is shared with others`;
  const { chats, users } = rules;
  if (chats !== undefined && !use.chatIds.some((id) => listsId(chats, id)))
    return `${use.chatIds[0] ?? 'this chat'} is none of the chats that ${name} is for`;
  if (users !== undefined && !listsId(users, use.sender))
    return `${use.sender} is none of the people that ${name} is for`;
  return undefined;
}

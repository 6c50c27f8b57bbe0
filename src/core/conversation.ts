export const chatTypes = ['private', 'group', 'channel'] as const;
export type ChatType = (typeof chatTypes)[number];

/** The type as the platform told it. `unknown` is denied wherever the type decides (A3). */
export type SeenChatType = ChatType | 'unknown';

/** Whether others read along. A chat of unknown type counts as private. */
export function isShared({ chatType }: Readonly<{ chatType?: unknown }>): boolean {
  return chatType === 'group' || chatType === 'channel';
}

export type Conversation = Readonly<{
  channel: string;
  chat: string;
  thread?: string;
}>;

export function conversationKey({ channel, chat, thread }: Conversation): string {
  const room = `${escape(channel)}:${escape(chat)}`;
  return thread === undefined ? room : `${room}/${escape(thread)}`;
}

/** `~` is escaped too, because it marks work beside a conversation. */
function escape(text: string): string {
  return encodeURIComponent(text).replaceAll('~', '%7E');
}

/** The id of a chat in the config, such as `telegram:-100123`. Threads have that of their chat (A4). */
export function chatIdOf({ channel, chat }: Conversation): string {
  return `${channel}:${chat}`;
}

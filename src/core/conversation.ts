export const chatTypes = ['private', 'group', 'channel'] as const;
export type ChatType = (typeof chatTypes)[number];

/** `unknown` is denied (A3). */
export type SeenChatType = ChatType | 'unknown';

/** Others read along. A chat of unknown kind is private. */
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

/** `~`: work beside a conversation. */
function escape(text: string): string {
  return encodeURIComponent(text).replaceAll('~', '%7E');
}

/** `telegram:-100123`; threads inherit it (A4). */
export function chatIdOf({ channel, chat }: Conversation): string {
  return `${channel}:${chat}`;
}

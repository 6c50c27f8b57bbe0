export const chatTypes = ['private', 'group', 'channel'] as const;
export type ChatType = (typeof chatTypes)[number];

/** `unknown` is denied wherever a rule asks (A3). */
export type SeenChatType = ChatType | 'unknown';

/** The unit of order and memory, and a return address. */
export type Conversation = Readonly<{
  channel: string;
  chat: string;
  thread?: string;
}>;

/** Equal only for equal conversations. */
export function conversationKey({ channel, chat, thread }: Conversation): string {
  const room = `${escape(channel)}:${escape(chat)}`;
  return thread === undefined ? room : `${room}/${escape(thread)}`;
}

/** `~` is for work beside a conversation. */
function escape(text: string): string {
  return encodeURIComponent(text).replaceAll('~', '%7E');
}

/** `telegram:-100123`; a thread inherits its chat (A4). */
export function chatIdOf({ channel, chat }: Conversation): string {
  return `${channel}:${chat}`;
}

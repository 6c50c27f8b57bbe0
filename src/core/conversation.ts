/** The kinds of room a skill rule can name (A1). */
export const chatTypes = ['private', 'group', 'channel'] as const;
export type ChatType = (typeof chatTypes)[number];

/** A chat type as an event carries it; `unknown` is denied wherever a rule asks (A3). */
export type SeenChatType = ChatType | 'unknown';

/** Chat + thread: the unit of ordering and memory, and the return address of everything that is sent. */
export type Conversation = Readonly<{
  /** The channel's name: `telegram`, `slack`, `terminal`. */
  channel: string;
  /** The platform's own chat id, as a string. */
  chat: string;
  /** Topic or thread id within the chat. */
  thread?: string;
}>;

/** One string per conversation, equal only for equal conversations: the key of lane, transcript and log lines. */
export function conversationKey({ channel, chat, thread }: Conversation): string {
  const room = `${escape(channel)}:${escape(chat)}`;
  return thread === undefined ? room : `${room}/${escape(thread)}`;
}

/** `~` is left for what stands beside a conversation. */
function escape(text: string): string {
  return encodeURIComponent(text).replaceAll('~', '%7E');
}

/** The chat's qualified id, as access rules name it: `telegram:-100123`. A thread inherits its chat (A4). */
export function chatIdOf({ channel, chat }: Conversation): string {
  return `${channel}:${chat}`;
}

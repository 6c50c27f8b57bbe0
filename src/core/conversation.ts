export const chatTypes = ['private', 'group', 'channel'] as const;
export type ChatType = (typeof chatTypes)[number];

/** The type as the platform told it. `unknown` is denied wherever the type decides (A3). */
export type SeenChatType = ChatType | 'unknown';

/** What a platform tells of a chat. */
export type ChatKind = Readonly<{
  chatType: SeenChatType;
  /** True if the chat is shared with another company (A1). */
  external: boolean;
}>;

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

/** The conversation of a key, also of work beside it. A part that can't be read stays as it is written. */
export function placeOfKey(key: string): Conversation {
  const [whole = ''] = key.split('~', 1);
  const at = whole.indexOf(':');
  const [room = '', thread] = whole.slice(at + 1).split('/', 2);
  const channel = at < 0 ? '' : read(whole.slice(0, at));
  return { channel, chat: read(room), thread: thread === undefined ? undefined : read(thread) };
}

function read(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** `~` is escaped too, because it marks work beside a conversation. */
function escape(text: string): string {
  return encodeURIComponent(text).replaceAll('~', '%7E');
}

/** The id of a chat in the config, such as `telegram:-100123`. Threads have that of their chat (A4). */
export function chatIdOf({ channel, chat }: Conversation): string {
  return `${channel}:${chat}`;
}

/** The person who spoke with the bot last in a thread, as long as nobody else spoke since. */
export type ThreadPartners = Readonly<{
  get(conversation: Conversation): Promise<string | undefined>;
  set(conversation: Conversation, sender: string | undefined): Promise<void>;
}>;

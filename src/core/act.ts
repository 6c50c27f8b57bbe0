import type { Conversation, SeenChatType } from './conversation.ts';
import type { Sender } from './message.ts';

/** What somebody did with something that the bot showed them: `action` is what the bot wrote there. */
export type Act = Readonly<{
  id: string;
  conversation: Conversation;
  chatType: SeenChatType;
  external: boolean;
  sender: Sender;
  action: string;
  /** As of a message: only the sender sees what it was done with (H12). */
  ephemeral?: true;
}>;

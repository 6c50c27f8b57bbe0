import type { Receipt, ShownCall } from '../../core/channel.ts';
import { sayIn } from '../../core/texts/say.ts';
import type { Conversation } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import type { RateLimiter } from '../rate-limiter.ts';
import { textField, toSendError, type CallSlack } from './slack-error.ts';
import { escapeText } from './plain-text.ts';
import { findKey, keyMetadata } from './find-key.ts';
import { userOf } from './slack-options.ts';

export type ThreadOpening = Pick<Message, 'id' | 'conversation' | 'sender'>;

/** Who pressed a button, and where. */
export type Presser = ThreadOpening & Readonly<{ receipt?: Receipt }>;

/** Posts who asked for what, and returns the thread under it (I1, H12). Throws SendError. */
export async function openThread(
  call: CallSlack,
  posts: RateLimiter,
  { id, conversation, sender }: ThreadOpening,
  { skill, text }: ShownCall,
): Promise<Conversation> {
  // Counted without waiting: Slack wants an acknowledgement within 3 s and allows single messages to burst.
  posts.take(conversation.chat);
  const [say, who] = [sayIn(sender.language), `<@${userOf(sender.id)}>`];
  const asked =
    skill === undefined ? say`${who} asked me something` : say`${who} asked for ${escapeText(skill)}`;
  const words = text === undefined ? '' : `: ${escapeText(text)}`;
  try {
    const answer = await call('chat.postMessage', {
      channel: conversation.chat,
      text: `${asked}${words}`.slice(0, longestRoot),
      metadata: keyMetadata(id),
      unfurl_links: false,
      unfurl_media: false,
    });
    return { ...conversation, thread: textField(answer, 'ts') };
  } catch (error) {
    const failed = toSendError(error, 'the message that opens the thread');
    const thread = failed.outcome === 'unknown' ? await findKey(call, conversation, id) : undefined;
    if (thread === undefined) throw failed;
    return { ...conversation, thread };
  }
}

const longestRoot = 3000;

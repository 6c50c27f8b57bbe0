import type { Conversation } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import type { Pace } from '../pace.ts';
import { textOf, type CallSlack } from './call-slack.ts';
import { escapeText } from './escape-text.ts';
import { findKey, keyMetadata } from './find-key.ts';
import { toSendError } from './slack-error.ts';

/** Posts who asked what as the root of a slash call's thread, and gives that thread (I1). Throws SendError. */
export async function openThread(call: CallSlack, posts: Pace, message: Message): Promise<Conversation> {
  const { conversation, sender } = message;
  // Counted but not waited for: the call must be acknowledged within 3 s, and Slack lets single messages burst.
  posts.take(conversation.chat);
  const person = sender.id.slice(sender.id.indexOf(':') + 1);
  try {
    const answer = await call('chat.postMessage', {
      channel: conversation.chat,
      text: `<@${person}> asked: ${escapeText(message.text)}`.slice(0, longestRoot),
      metadata: keyMetadata(message.id),
      unfurl_links: false,
      unfurl_media: false,
    });
    return { ...conversation, thread: textOf(answer, 'ts') };
  } catch (error) {
    const failed = toSendError(error, 'the message that opens the thread');
    const thread = failed.outcome === 'unknown' ? await findKey(call, conversation, message.id) : undefined;
    if (thread === undefined) throw failed;
    return { ...conversation, thread };
  }
}

const longestRoot = 3000;

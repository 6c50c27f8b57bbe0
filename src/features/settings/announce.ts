import type { App } from '../../app.ts';
import { conversationKey } from '../../core/conversation.ts';
import { sayIn } from '../../core/texts/say.ts';
import { inlineCode } from '../../lib/text/text.ts';
import type { Who } from '../../tools/settings/settings-in-force.ts';

/** A person who changes the same thing again within this time, in milliseconds, is not announced again. */
const onceMs = 10 * 60_000;

/** Tells everybody in a group that somebody changed `what` there, and no more than that (U16). */
export async function announce(
  { conversation, chatType, sender, name, language }: Who,
  what: string,
  { replies, clock }: Readonly<{ replies: App['replies']; clock: App['clock'] }>,
): Promise<void> {
  if (chatType === 'private') return;
  const time = Math.floor(clock.now() / onceMs);
  const key = `changed:${conversationKey(conversation)}:${sender}:${what}:${time}`;
  const say = sayIn(language);
  await replies.say(
    conversation,
    key,
    say`${inlineCode(name ?? sender)} changed this for the whole chat: ${what}.`,
  );
}

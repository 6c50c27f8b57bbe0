import type { App } from '../app.ts';
import { firstWordsKey, nameCommands } from '../core/first-words.ts';
import { repliesTo, type Message } from '../core/message.ts';
import { sayIn, type Say } from '../core/texts/say.ts';
import { toSenderAlone } from '../replies/replies.ts';
import { createToldPeople } from '../replies/told-people.ts';
import { completeChat } from './judge-message.ts';

/**
 * Tells the sender of an admitted message once that the bot is an AI, what it keeps, and how to see and delete that (U19).
 * In a group nobody else reads it: what can't be shown to the person alone waits for their direct message. The outbox
 * keeps one row for each person until it arrives; from then on the person counts as told. So the words are said once,
 * whichever process dies in between.
 */
export function createFirstWords(app: App): (message: Message) => Promise<void> {
  const { config, store, channels, replies, chatCommands, writeCommand } = app;
  const told = createToldPeople(store);

  function words({ conversation }: Message, say: Say): string {
    const write = (name: string): string => writeCommand(conversation, name);
    const { name, firstWords, retentionDays } = config().bot;
    if (firstWords !== undefined) return nameCommands(firstWords, write);
    return [
      say`Hello, I am ${name}, an AI. I can be wrong.`,
      say`I keep what we write and the files you send me for ${retentionDays} days after our last message, and what I note about you.`,
      ...(chatCommands.row('memory') === undefined
        ? []
        : [say`${write('memory')} shows my notes and removes them.`]),
      say`${write('forget')} tells you how to have everything about you deleted.`,
    ].join(' ');
  }

  return async (heard) => {
    const { kind, id, language } = heard.sender;
    // People at a terminal started the bot by its name.
    if (heard.conversation.channel === 'terminal' || (kind !== 'person' && kind !== 'guest')) return;
    if (await told.has(id)) return;
    const message = await completeChat(heard, channels);
    const { privately, ...alone } = toSenderAlone(message);
    const outbox = await replies.rows(
      message.conversation,
      firstWordsKey(id),
      words(message, sayIn(language)),
      {
        ...alone,
        replyTo: privately && repliesTo(message),
        privately: privately && { ...privately, quiet: true },
      },
    );
    await store.commit({ outbox });
  };
}

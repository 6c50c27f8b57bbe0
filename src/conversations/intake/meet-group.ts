import type { Channel, ChannelEvent } from '../../core/channel.ts';
import { chatIdOf, type Conversation } from '../../core/conversation.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Message } from '../../core/message.ts';
import { inlineCode } from '../../lib/text/inline-code.ts';
import type { Voice } from '../../replies/replies.ts';
import type { Groups } from './groups.ts';
import type { People } from '../../access/users.ts';

/** How the bot meets groups that nobody listed: it asks its owners, each in a direct message (H13). */
export type MeetGroup = Readonly<{
  /** The bot was added somewhere. */
  joined(event: Extract<ChannelEvent, { type: 'joined' }>): Promise<void>;
  /** Somebody spoke to it in a group that is not listed. */
  spoken(message: Message): Promise<void>;
}>;

export function createMeetGroup(options: {
  groups: Groups;
  people: People;
  channels: ReadonlyMap<string, Pick<Channel, 'lookUpChat'>>;
  voice: Pick<Voice, 'tellOwners'>;
  clock: Clock;
}): MeetGroup {
  const { groups, people, channels, voice, clock } = options;

  async function ask(place: Conversation, what: string, byOwner: boolean): Promise<void> {
    const { channel, chat } = place;
    const id = chatIdOf(place);
    const nameOf = async () => (await channels.get(channel)?.lookUpChat({ channel, chat }))?.name ?? chat;
    const name = await groups.mayAsk({ channel, chat }, nameOf, byOwner);
    if (name === undefined) return;
    await voice.tellOwners(
      `group:${id}:${clock.now()}`,
      `${what} ${inlineCode(name)}, which is not listed: id \`${id}\`. May people I know talk to me there?`,
      {
        buttons: [
          { label: 'Allow', action: `group:allow:${id}` },
          { label: 'Ignore', action: `group:ignore:${id}` },
        ],
      },
    );
  }

  async function isUnlisted(place: Conversation): Promise<boolean> {
    const [owner] = await people.owners();
    if (owner === undefined) return false;
    const decision = await people.mayAct({
      conversation: place,
      chatType: 'group',
      sender: { id: owner, kind: 'person' },
    });
    return !decision.allowed && decision.code === 'CHAT_NOT_ALLOWED';
  }

  return {
    async joined({ conversation, by }) {
      if (!(await isUnlisted(conversation))) return;
      const what = by === undefined ? 'I was added to' : `${called(by)} added me to`;
      await ask(conversation, what, by !== undefined && (await people.isOwner(by.id)));
    },
    async spoken({ addressed, conversation, sender }) {
      if (!addressed || sender.kind !== 'person' || !(await people.isOwner(sender.id))) return;
      await ask(conversation, `${called(sender)} wrote to me in`, true);
    },
  };
}

function called({ id, name }: Readonly<{ id: string; name: string }>): string {
  return `${inlineCode(name)} (\`${id}\`)`;
}

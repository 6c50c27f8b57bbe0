import type Keyv from 'keyv';
import type { AccessSettings } from '../core/access-settings.ts';
import { createInTurn } from '../core/in-turn.ts';
import { decideMessage, type MessageDenial } from '../core/decide-message.ts';
import type { Decision } from '../core/decision.ts';
import type { Message } from '../core/message.ts';
import type { MovedChats } from './moved-chats.ts';

/** A person the owner let in (A10). */
export type Paired = Readonly<{ sender: string; name: string; since: number }>;

/** Who is known to the bot: configured, paired, or the owner by claim. */
export type People = Readonly<{
  owners(): Promise<readonly string[]>;
  isOwner(sender: string): Promise<boolean>;
  addOwner(sender: string): Promise<void>;
  pair(person: Paired): Promise<void>;
  unpair(sender: string): Promise<boolean>;
  paired(): Promise<readonly Paired[]>;
  /** `decideMessage` with what is known of the sender and the chat. */
  decide(
    message: Pick<Message, 'conversation' | 'chatType' | 'sender' | 'addressed'>,
  ): Promise<Decision<MessageDenial>>;
}>;

/** `stored` is one small list per key: pairings are few, and read whole. */
export function createPeople(options: {
  stored: Keyv;
  access: () => AccessSettings;
  moved: MovedChats;
}): People {
  const { stored, access, moved } = options;
  const inTurn = createInTurn();
  const claimed = async (): Promise<readonly string[]> => (await stored.get<string[]>('owners')) ?? [];
  const paired = async (): Promise<readonly Paired[]> => (await stored.get<Paired[]>('paired')) ?? [];
  const owners = async (): Promise<readonly string[]> => [
    ...new Set([...access().owners, ...(await claimed())]),
  ];
  return {
    owners,
    paired,
    isOwner: async (sender) => (await owners()).includes(sender),
    addOwner: (sender) =>
      inTurn(async () => {
        await stored.set('owners', [...new Set([...(await claimed()), sender])]);
      }),
    pair: (person) =>
      inTurn(async () => {
        const others = (await paired()).filter(({ sender }) => sender !== person.sender);
        await stored.set('paired', [...others, person]);
      }),
    unpair: (sender) =>
      inTurn(async () => {
        const before = await paired();
        const after = before.filter((person) => person.sender !== sender);
        await stored.set('paired', after);
        return after.length < before.length;
      }),
    async decide(message) {
      return decideMessage(
        message,
        { ...access(), owners: await owners() },
        {
          paired: (await paired()).some(({ sender }) => sender === message.sender.id),
          formerChatIds: await moved.formerIds(message.conversation),
        },
      );
    },
  };
}

import { chatIdOf } from '../core/conversation.ts';
import type { SkillUse } from './decide-skill.ts';
import type { Message } from '../core/message.ts';
import type { MovedChats } from './chat-migrations.ts';

export type UseOf = (
  message: Pick<Message, 'conversation' | 'chatType' | 'external'> &
    Readonly<{ sender: Pick<Message['sender'], 'id'> }>,
) => Promise<SkillUse>;

/** The use of skills that a person's message stands for, as `decideSkill` judges it. */
export function createUseOf(moved: MovedChats): UseOf {
  return async ({ conversation, chatType, external, sender }) => ({
    chatType,
    chatIds: [chatIdOf(conversation), ...(await moved.formerIds(conversation))],
    external,
    sender: sender.id,
    by: 'person',
  });
}

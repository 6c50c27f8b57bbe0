import type { Config } from '../config/complete-config.ts';
import type { BudgetOf } from '../core/budget.ts';
import { chatIdOf, conversationKey } from '../core/conversation.ts';
import type { Requester } from '../core/tool.ts';
import type { SumKey } from './sums.ts';

type Limits = Config['limits']['chat'];

/** What one table of `[limits]` counts for a requester. */
export type LimitScope = Readonly<{
  key: string;
  of: BudgetOf;
  /** The id of the person or chat, or the skill's name; empty for all. */
  name: string;
  /** The owner of the limit as a sentence begins with it: `Your`, `This chat’s`. */
  whose: string;
  limits: Limits;
  sum: SumKey;
  isFor(task: Readonly<{ sender: string; chat: string; skill: string }>): boolean;
}>;

/** The scopes that count for a requester, and for a skill if one is named. */
export function scopesOf(
  limits: Config['limits'],
  { sender, conversation }: Requester,
  skill?: string,
): readonly LimitScope[] {
  const { chat, skill: ofSkill, global, ...own } = limits;
  const place = chatIdOf(conversation);
  const room = conversationKey({ channel: conversation.channel, chat: conversation.chat });
  const all: readonly LimitScope[] = [
    {
      ...{ key: `sender ${sender}`, of: 'sender', name: sender, whose: 'Your', limits: own },
      sum: `sender ${sender}`,
      isFor: (task) => task.sender === sender,
    },
    {
      ...{ key: `chat ${place}`, of: 'room', name: place, whose: 'This chat’s', limits: chat },
      sum: `room ${room}`,
      isFor: (task) => task.chat === place,
    },
    {
      ...{
        key: `skill ${skill}`,
        of: 'skill',
        name: skill ?? '',
        whose: `The skill ${skill}’s`,
        limits: ofSkill,
      },
      sum: `skill ${skill}`,
      isFor: (task) => task.skill === skill,
    },
    {
      ...{ key: 'all', of: 'all', name: '', whose: 'My', limits: global },
      sum: 'all',
      isFor: () => true,
    },
  ];
  return all.filter(({ of }) => of !== 'skill' || skill !== undefined);
}

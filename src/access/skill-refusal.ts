import { listsId } from './chat-migrations.ts';
import { allowedChats, allowedChatTypes, decideSkill, whyOff, type SkillUse } from './decide-skill.ts';
import type { SkillRules } from '../core/access-settings.ts';
import { chatTypes } from '../core/conversation.ts';
import type { Skill } from '../core/skill.ts';
import { fixed, type Fixed } from '../core/texts/say.ts';

export type SkillRefusal = Readonly<{
  /** The sentence for the person; `{0}` is the skill's name. */
  sentence: Fixed;
  /** True if the skill works in a direct message with this person. */
  inDirect: boolean;
}>;

const notHere = fixed`${0} does not work in this chat.`;

/**
 * What a person reads who calls a skill that is denied here. Undefined means that the skill does not exist for them
 * (A11). If a list of chats decides, the sentence names no type of chat, because most chats of that type would refuse,
 * too. `toOwner`: an owner who alone reads the answer learns of every skill that people may start.
 */
export function skillRefusal(
  skill: Skill,
  rules: SkillRules,
  use: SkillUse,
  { toOwner }: Readonly<{ toOwner: boolean }>,
): SkillRefusal | undefined {
  const { name, access } = skill;
  if (use.by !== 'person' || !access.userInvocable) return undefined;
  const allowed = allowedChatTypes(skill, rules);
  const types = chatTypes.filter((type) => allowed.includes(type));
  const users = rules.skills.get(name)?.allowUsers;
  const isTheirs = types.length > 0 && (users === undefined || listsId(users, use.sender));
  if (!isTheirs) return toOwner ? { sentence: notHere, inDirect: false } : undefined;
  if (whyOff(skill, rules) !== undefined)
    return { sentence: fixed`${0} is off until an owner enables it.`, inDirect: false };
  // On Telegram a direct message has the id of its sender.
  const direct: SkillUse = { ...use, chatType: 'private', external: false, chatIds: [use.sender] };
  if (use.chatType !== 'private' && decideSkill(skill, rules, direct).allowed)
    return { sentence: types.length === 1 ? inDirectOnly : inDirectToo, inDirect: true };
  const byType = allowedChats(name, rules) === undefined && !types.some((type) => type === use.chatType);
  const sentence = byType && use.chatType !== 'unknown' ? onlyIn[types.join()] : undefined;
  return { sentence: sentence ?? notHere, inDirect: false };
}

const inDirectOnly = fixed`${0} works in a direct message only.`;
const inDirectToo = fixed`${0} works in a direct message, not in this chat.`;
const onlyIn: Readonly<Record<string, Fixed>> = {
  group: fixed`${0} works in groups only.`,
  channel: fixed`${0} works in channels only.`,
  'group,channel': fixed`${0} works in groups and channels only.`,
};

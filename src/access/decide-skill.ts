import { listsId, type ChatMigrations } from './chat-migrations.ts';
import { english, type Decision } from './decide-message.ts';
import type { SkillRules } from '../core/access-settings.ts';
import {
  chatIdOf,
  type ChatKind,
  type ChatType,
  type Conversation,
  type SeenChatType,
} from '../core/conversation.ts';
import { skilletHere } from '../core/skillet-here.ts';
import type { Skill } from '../core/skill.ts';

export type SkillUse = Use & Readonly<{ by: 'person' | 'model' }>;

type SkillDenial = 'SKILL_DISABLED' | 'SKILL_NOT_AVAILABLE_HERE' | 'SKILL_NOT_FOUND';

/**
 * Decides whether a skill may be used; nothing else does (A8). Anything missing or unknown denies. The checks have the
 * order of U1.
 */
export function decideSkill(
  skill: Skill,
  rules: SkillRules,
  use: SkillUse,
  say = english,
): Decision<SkillDenial> {
  const { name, access } = skill;
  const settings = rules.skills.get(name) ?? {};
  const place: AccessRules = {
    chatTypes: allowedChatTypes(skill, rules),
    sensitive: access.sensitive || settings.sensitive === true,
    chats: allowedChats(name, rules),
    users: settings.allowUsers,
  };
  const kept = whyNoAccess(name, place, use, say);
  if (kept !== undefined) return deny('SKILL_NOT_AVAILABLE_HERE', kept);
  const off = whyOff(skill, rules, say);
  if (off !== undefined) return deny('SKILL_DISABLED', off);
  // If `by` is neither word, both kinds of start must be allowed.
  if (use.by !== 'person' && access.disableModelInvocation) {
    return deny('SKILL_NOT_FOUND', say`${name} may only be started by a person`);
  }
  if (use.by !== 'model' && !access.userInvocable) {
    return deny('SKILL_NOT_FOUND', say`${name} may only be started by the model`);
  }
  return { allowed: true };
}

/** Why a skill is off; undefined if it is on (A7, D9). */
export function whyOff(
  { name, access }: Skill,
  { enabled, skills }: SkillRules,
  say = english,
): string | undefined {
  // Not `enabled` alone: rules that lost the field must not pass.
  if (enabled !== true) return say`skills are switched off: set [skills] enabled = true`;
  const own = skills.get(name)?.enabled;
  if (!(own ?? !access.optIn)) {
    return own === false
      ? say`${name} is switched off: set [skills.${name}] enabled = true`
      : say`${name} is off until switched on: set [skills.${name}] enabled = true`;
  }
  // Not `!access.approved`: what lost the field must not pass.
  return access.approved === true
    ? undefined
    : say`the bot wrote ${name}: run ${`${skilletHere()} skill enable ${name}`} to approve it`;
}

/** Whether the skill's results are private (A2, S7). */
export function isSensitive(skill: Skill, rules: SkillRules): boolean {
  return skill.access.sensitive || rules.skills.get(skill.name)?.sensitive === true;
}

/** The types of chat in which the skill may be used. The config can only narrow what the skill declares (A2, D3). */
export function allowedChatTypes(skill: Skill, rules: SkillRules): readonly ChatType[] {
  const settings = rules.skills.get(skill.name);
  const byConfig = settings?.chatTypes ?? (settings?.sensitive === true ? (['private'] as const) : undefined);
  return byConfig === undefined
    ? skill.access.chatTypes
    : skill.access.chatTypes.filter((type) => byConfig.includes(type));
}

/**
 * Chats in which the skill may be used. The skill's own list replaces the default, and `[]` lifts it. Undefined: every
 * chat (A4).
 */
export function allowedChats(name: string, { defaults, skills }: SkillRules): readonly string[] | undefined {
  const own = skills.get(name)?.allowChatIds;
  if (own !== undefined) return own.length === 0 ? undefined : own;
  return defaults.allowChatIds?.length ? defaults.allowChatIds : undefined;
}

function deny(code: SkillDenial, reason: string): Extract<Decision<SkillDenial>, { allowed: false }> {
  return { allowed: false, code, reason };
}

type Use = Readonly<{
  chatType: SeenChatType;
  /** Qualified ids of the chat, newest first (A6). */
  chatIds: readonly string[];
  external: boolean;
  sender: string;
}>;

type AccessRules = Readonly<{
  chatTypes: readonly SeenChatType[];
  /** If true, it may not be used where people of other workspaces read along. */
  sensitive: boolean;
  /** Undefined: every chat of these types. Empty: none. */
  chats?: readonly string[] | undefined;
  /** Undefined: everybody. Empty: nobody. */
  users?: readonly string[] | undefined;
}>;

/** Why a skill or tool may not be used here; undefined if it may (A2, A4, A7, X7). */
export function whyNoAccess(name: string, rules: AccessRules, use: Use, say = english): string | undefined {
  if (!rules.chatTypes.includes(use.chatType)) {
    return rules.chatTypes.length === 0
      ? say`${name} is for no chats; this one is ${use.chatType}`
      : say`${name} is for ${rules.chatTypes.join(', ')} chats; this one is ${use.chatType}`;
  }
  // Not `use.external` alone: a use that lost the field must not pass.
  if (rules.sensitive && use.external !== false)
    return say`${name} is sensitive and this chat is shared with others`;
  const { chats, users } = rules;
  if (chats !== undefined && !use.chatIds.some((id) => listsId(chats, id)))
    return say`${use.chatIds[0] ?? say`this chat`} is not in allow_chat_ids of ${name}`;
  if (users !== undefined && !listsId(users, use.sender))
    return say`${use.sender} is not in allow_users of ${name}`;
  return undefined;
}

/** A person in a chat, by their id. */
export type ChatUser = ChatKind & Readonly<{ conversation: Conversation; sender: Readonly<{ id: string }> }>;

export type AccessContext = (user: ChatUser) => Promise<SkillUse>;

export function createAccessContext(migrations: ChatMigrations): AccessContext {
  return async ({ conversation, chatType, external, sender }) => ({
    chatType,
    chatIds: [chatIdOf(conversation), ...(await migrations.formerIds(conversation))],
    external,
    sender: sender.id,
    by: 'person',
  });
}

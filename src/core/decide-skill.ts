import type { SkillRules } from './access-settings.ts';
import { listsId } from './chat-id.ts';
import type { ChatType, SeenChatType } from './conversation.ts';
import type { Decision } from './decision.ts';
import type { Skill } from './skill.ts';

/** Where, by whom and for whom a skill is wanted. */
export type SkillUse = Readonly<{
  chatType: SeenChatType;
  /** Qualified; a migrated group's new id first, then the ids it had (A6). */
  chatIds: readonly string[];
  external: boolean;
  /** Sender id. */
  sender: string;
  by: 'person' | 'model';
}>;

export type SkillDenial = 'SKILL_DISABLED' | 'SKILL_NOT_AVAILABLE_HERE' | 'SKILL_NOT_FOUND';

/** Who may use which skill where: the only function that decides it (A8). Everything missing or unknown is a deny. */
export function decideSkill(
  skill: Pick<Skill, 'name' | 'access'>,
  rules: SkillRules,
  use: SkillUse,
): Decision<SkillDenial> {
  const settings = rules.skills.get(skill.name) ?? {};
  const { access } = skill;
  if (!(settings.enabled ?? !access.optIn)) {
    const why = settings.enabled === false ? 'switched off' : 'off until switched on';
    return deny('SKILL_DISABLED', `${skill.name} is ${why}: set [skills.${skill.name}] enabled = true`);
  }
  const types = allowedChatTypes(skill, rules);
  const sensitive = access.sensitive || settings.sensitive === true;
  if (use.chatType === 'unknown' || !types.includes(use.chatType)) {
    return deny(
      'SKILL_NOT_AVAILABLE_HERE',
      `${skill.name} is for ${types.join(', ') || 'no'} chats; this one is ${use.chatType}`,
      types.includes('private') ? 'It works in a direct message only.' : undefined,
    );
  }
  if (sensitive && use.external) {
    return deny('SKILL_NOT_AVAILABLE_HERE', `${skill.name} is sensitive and this chat is shared with others`);
  }
  const chats = allowedChats(skill.name, rules);
  if (chats !== undefined && !use.chatIds.some((id) => listsId(chats, id))) {
    return deny('SKILL_NOT_AVAILABLE_HERE', `${use.chatIds[0] ?? 'this chat'} is not in allow_chat_ids`);
  }
  if (settings.allowUsers !== undefined && !listsId(settings.allowUsers, use.sender)) {
    return deny('SKILL_NOT_AVAILABLE_HERE', `${use.sender} is not in allow_users of ${skill.name}`);
  }
  if (use.by === 'model' && access.disableModelInvocation) {
    return deny('SKILL_NOT_FOUND', `${skill.name} may only be started by a person`);
  }
  if (use.by === 'person' && !access.userInvocable) {
    return deny('SKILL_NOT_FOUND', `${skill.name} may only be started by the model`);
  }
  return { allowed: true };
}

/** A2: the definition's own types, made stricter by config. */
export function allowedChatTypes(
  skill: Pick<Skill, 'name' | 'access'>,
  rules: SkillRules,
): readonly ChatType[] {
  const settings = rules.skills.get(skill.name);
  const byConfig = settings?.chatTypes ?? (settings?.sensitive === true ? (['private'] as const) : undefined);
  return byConfig === undefined
    ? skill.access.chatTypes
    : skill.access.chatTypes.filter((type) => byConfig.includes(type));
}

/** A4: the skill's own list wins whole; an explicit `[]` lifts the default. */
function allowedChats(name: string, { defaults, skills }: SkillRules): readonly string[] | undefined {
  const own = skills.get(name)?.allowChatIds;
  if (own !== undefined) return own.length === 0 ? undefined : own;
  return defaults.allowChatIds?.length ? defaults.allowChatIds : undefined;
}

function deny(code: SkillDenial, reason: string, hint?: string): Decision<SkillDenial> {
  return { allowed: false, code, reason, ...(hint === undefined ? {} : { hint }) };
}

import { allowedChats, allowedChatTypes, decideSkill, isSensitive, type SkillUse } from './decide-skill.ts';
import { listsId } from './chat-migrations.ts';
import type { KeyPath } from '../config/section.ts';
import type { SkillRules } from '../core/access-settings.ts';
import type { Skill } from '../core/skill.ts';
import type { Say } from '../core/texts/say.ts';
import type { Rule, Ruling } from './ruling.ts';
import { skilletHere } from '../core/skillet-here.ts';

type Why = Readonly<{ rule: Rule; change: string }>;

type Around = Readonly<{ rules: SkillRules; use: SkillUse; ruleAt(key: KeyPath): Rule; say: Say }>;

/** Whether somebody may use a skill, with the rule behind it. */
export function explainSkill(skill: Skill, around: Around): Ruling {
  const { rules, use, say } = around;
  const decision = decideSkill(skill, rules, use, say);
  if (decision.allowed) {
    const { name } = skill;
    const types = allowedChatTypes(skill, rules).join(', ');
    return { allowed: true, reason: say`${name} is on for ${types} chats`, rule: typesRule(skill, around) };
  }
  const { code, reason } = decision;
  const why = code === 'SKILL_NOT_AVAILABLE_HERE' ? whyNotHere(skill, around) : whyOff(skill, around);
  return { allowed: false, code, reason, ...why };
}

function itself({ path }: Skill, { say }: Around): Rule {
  return { name: say`the skill itself`, path };
}

/** The rule that says in which types of chats the skill is on. */
function typesRule(skill: Skill, around: Around): Rule {
  const { rules, ruleAt } = around;
  const settings = rules.skills.get(skill.name);
  if (settings?.chatTypes !== undefined) return ruleAt(['skills', skill.name, 'chat_types']);
  if (settings?.sensitive === true) return ruleAt(['skills', skill.name, 'sensitive']);
  return itself(skill, around);
}

/** Why the skill is not for this person or chat. It checks the rules in the same order as `decideSkill`. */
function whyNotHere(skill: Skill, around: Around): Why {
  const { rules, use, ruleAt, say } = around;
  const own = (key: string): KeyPath => ['skills', skill.name, key];
  if (!allowedChatTypes(skill, rules).includes(use.chatType as 'private')) {
    const byFile = !skill.access.chatTypes.includes(use.chatType as 'private');
    return {
      rule: byFile ? itself(skill, around) : typesRule(skill, around),
      change: byFile
        ? say`the skill’s own file has to name ${use.chatType} chats: the config can only narrow it`
        : say`add "${use.chatType}" to chat_types below [skills.${skill.name}]`,
    };
  }
  if (isSensitive(skill, rules) && use.external) {
    const byConfig = rules.skills.get(skill.name)?.sensitive === true;
    return {
      rule: byConfig ? ruleAt(own('sensitive')) : itself(skill, around),
      change: say`use it where nobody of another workspace reads along`,
    };
  }
  const chats = allowedChats(skill.name, rules);
  if (chats !== undefined && !use.chatIds.some((id) => listsId(chats, id))) {
    const hasOwn = rules.skills.get(skill.name)?.allowChatIds !== undefined;
    return {
      rule: ruleAt(hasOwn ? own('allow_chat_ids') : ['skills', 'defaults', 'allow_chat_ids']),
      change: say`add "${use.chatIds[0] ?? ''}" there`,
    };
  }
  return { rule: ruleAt(own('allow_users')), change: say`add "${use.sender}" there` };
}

/** Why nobody can use the skill. */
function whyOff(skill: Skill, around: Around): Why {
  const { rules, ruleAt, say } = around;
  const { name, access } = skill;
  if (!rules.enabled)
    return {
      rule: ruleAt(['skills', 'enabled']),
      change: say`write ${'enabled = true'} under ${'[skills]'}`,
    };
  if (!(rules.skills.get(name)?.enabled ?? !access.optIn))
    return {
      rule: ruleAt(['skills', name, 'enabled']),
      change: say`write ${'enabled = true'} under ${`[skills.${name}]`}`,
    };
  if (!access.approved)
    return {
      rule: { name: say`the bot wrote it`, path: skill.path },
      change: say`run ${`${skilletHere()} skill enable ${name}`}`,
    };
  return {
    rule: itself(skill, around),
    change: say`the skill is for the model alone (user-invocable)`,
  };
}

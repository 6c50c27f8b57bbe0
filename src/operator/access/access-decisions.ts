import { z } from 'zod';
import { english, type Decision, type Speaker } from '../../access/decide-message.ts';
import { decideSkill, isSensitive, type AccessContext } from '../../access/decide-skill.ts';
import { explainSkill } from '../../access/explain-skill.ts';
import { explainTalk } from '../../access/explain-talk.ts';
import { createRuleAt, type Ruling } from '../../access/ruling.ts';
import type { Users } from '../../access/users.ts';
import type { Config } from '../../config/complete-config.ts';
import type { AccessSettings, SkillRules } from '../../core/access-settings.ts';
import { chatTypes } from '../../core/conversation.ts';
import type { Skill } from '../../core/skill.ts';
import { skillEnvironment } from '../../sandbox/script-command.ts';
import { catalogueBudget } from '../../skills/catalogue.ts';
import type { Registry } from '../../skills/registry.ts';
import type { UserGroupsInForce } from './named-groups.ts';

const id = z.string().min(1).max(300);

/** Somebody who writes somewhere, for whom access is decided. */
export const writer = z.object({
  sender: id,
  kind: z.enum(['person', 'guest', 'chat', 'bot']),
  channel: id,
  chat: id,
  chatType: z.enum([...chatTypes, 'unknown']),
  /** Shared with another company (A1). */
  external: z.boolean(),
  /** True if the message is addressed to the bot. */
  addressed: z.boolean(),
});

export type Writer = Readonly<z.output<typeof writer>>;

/** What the bot's access is decided by at this moment. */
export type AccessInForce = Readonly<{
  config: Config;
  access: AccessSettings;
  rules: SkillRules;
  registry: Registry;
  /** Whether programs and packages of a skill are installed. Undefined if no sandbox is open. */
  isHere?(skill: Skill): boolean;
  contextWindow?: number;
  /** Members of Slack's user groups. Undefined while no bot runs. */
  userGroups?: UserGroupsInForce;
}>;

export type SkillDecisions = Readonly<{
  name: string;
  description: string;
  origin: string;
  sensitive: boolean;
  byPerson: Ruling;
  byModel: Decision;
  /** True if programs or packages are missing (P3). */
  lacks: boolean;
  /** Names of variables without a value in `[skills.NAME]` (U3). */
  missingEnv: readonly string[];
}>;

export type AccessDecisions = Readonly<{
  message: Ruling;
  skills: readonly SkillDecisions[];
  /** The list of skills in the system prompt of this writer's turn. Empty if there is none. */
  catalogue: string;
}>;

type Deps = Readonly<{
  users: Users;
  accessOf: AccessContext;
  inForce(): Promise<AccessInForce>;
}>;

/**
 * Every decision about a writer, made by the functions that decide about messages and skills (A8, A9), with the rule
 * behind it (L13), in the language of `say`. Nothing is run.
 */
export async function accessDecisions(
  writer: Writer,
  { users, accessOf, inForce }: Deps,
  say = english,
): Promise<AccessDecisions> {
  const { sender, kind, channel, chat, chatType, external, addressed } = writer;
  const conversation = { channel, chat };
  const speaker: Speaker = { conversation, chatType, addressed, sender: { id: sender, kind } };
  const [decision, use, known, { config, access, rules, registry, isHere = () => true, contextWindow }] =
    await Promise.all([
      users.decide(speaker, say),
      accessOf({ conversation, chatType, external, sender: { id: sender } }),
      Promise.all([users.isOwner(sender), users.paired(), users.allowedGroups()]),
      inForce(),
    ]);
  const [owner, paired, groups] = known;
  const ruleAt = createRuleAt(config.path, say);
  const message = explainTalk(decision, speaker, {
    settings: access,
    stored: {
      owner,
      paired: paired.some((one) => one.sender === sender),
      group: groups.some(({ id }) => use.chatIds.includes(id)),
    },
    ruleAt,
    say,
  });
  const byModel = { ...use, by: 'model' } as const;
  const skills = registry.skills.map((skill) => ({
    name: skill.name,
    description: skill.description,
    origin: skill.origin,
    sensitive: isSensitive(skill, rules),
    byPerson: explainSkill(skill, { rules, use, ruleAt, say }),
    byModel: decideSkill(skill, rules, byModel),
    lacks: !isHere(skill),
    missingEnv: skillEnvironment(skill, config.skills.byName[skill.name]?.env ?? {}).missing,
  }));
  const isSeen = (skill: Skill): boolean =>
    decision.allowed && isHere(skill) && decideSkill(skill, rules, byModel).allowed;
  const { prompt } = config;
  const { text: catalogue } = registry.catalogue(isSeen, {
    format: prompt.skillsFormat,
    budgetChars: catalogueBudget(contextWindow, prompt.skillsBudgetChars),
    includeLocation: prompt.includeLocation,
  });
  return { message, skills, catalogue };
}

import { allowedChats, allowedChatTypes, isSensitive } from '../../access/decide-skill.ts';
import type { Diagnostic } from '../../core/codes.ts';
import type { ChatType } from '../../core/conversation.ts';
import type { Skill } from '../../core/skill.ts';
import { skillEnvironment } from '../../sandbox/script-command.ts';
import { listSkillFiles } from '../../skills/skill-files.ts';
import type { AccessInForce } from '../access/access-decisions.ts';

/** A skill as operators see it (L1). */
export type SkillRow = Pick<Skill, 'name' | 'description' | 'origin' | 'path' | 'version' | 'pin'> &
  Readonly<{
    isEnabled: boolean;
    /** False if the bot wrote it and nobody has enabled it. */
    isApproved: boolean;
    isSensitive: boolean;
    chatTypes: readonly ChatType[];
    /** The chats in which it may be used. Undefined: in all chats of those types. */
    chats?: readonly string[];
    /** The people who may use it. Undefined: everybody. */
    users?: readonly string[];
    /** True if programs or packages are missing. False too while no bot runs, because nothing is looked up then. */
    lacks: boolean;
    /** Names of variables without a value in `[skills.NAME]`. */
    missingEnv: readonly string[];
    /** What its owner gave as limits: tools, hosts, capabilities. Empty lists name none. */
    allowedTools?: readonly string[];
    network: readonly string[];
    capabilities: readonly string[];
    diagnostics: readonly Diagnostic[];
  }>;

/** All skills by the rules in force, and what is wrong with files that hold no skill. */
export function skillRows({ config, rules, registry, isHere = () => true }: AccessInForce): Readonly<{
  skills: readonly SkillRow[];
  problems: readonly Diagnostic[];
}> {
  const skills = registry.skills.map((skill): SkillRow => {
    const settings = config.skills.byName[skill.name];
    const { name, description, origin, path, version, pin, access } = skill;
    return {
      ...{ name, description, origin, path, version, pin },
      isEnabled: rules.enabled && access.approved && (settings?.enabled ?? !access.optIn),
      isApproved: access.approved,
      isSensitive: isSensitive(skill, rules),
      chatTypes: allowedChatTypes(skill, rules),
      chats: allowedChats(name, rules),
      users: settings?.allowUsers,
      lacks: !isHere(skill),
      missingEnv: skillEnvironment(skill, settings?.env ?? {}).missing,
      allowedTools: skill.allowedTools,
      network: [...new Set([...skill.network, ...(settings?.network ?? [])])],
      capabilities: skill.capabilities,
      diagnostics: skill.diagnostics,
    };
  });
  const problems = registry.diagnostics.filter(({ level }) => level === 'error');
  return { skills, problems };
}

/** The text of a skill and the names of its files. `text` is undefined if there is no such skill. */
export async function skillText(
  name: string,
  { config, registry }: AccessInForce,
): Promise<Readonly<{ text?: string; files: readonly string[]; isCut: boolean }>> {
  const skill = registry.get(name);
  if (skill === undefined) return { files: [], isCut: false };
  const body = await registry.body(skill.name, undefined, config.skills);
  const { files, cut } = listSkillFiles(skill);
  return { text: body.ok ? body.text : body.message, files, isCut: cut };
}

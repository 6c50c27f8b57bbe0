import type { SkillUse } from '../../src/access/decide-skill.ts';
import type { Skill, SkillAccess } from '../../src/core/skill.ts';

/** Access for everybody everywhere. */
export const openAccess: SkillAccess = {
  chatTypes: ['private', 'group', 'channel'],
  sensitive: false,
  optIn: false,
  approved: true,
  disableModelInvocation: false,
  userInvocable: true,
  why: [],
};

/** Access in direct messages only. */
export const secretAccess: SkillAccess = { ...openAccess, sensitive: true, chatTypes: ['private'] };

/** A person's use in a group. */
export const useInGroup: SkillUse = {
  chatType: 'group',
  chatIds: ['telegram:-100123'],
  external: false,
  sender: 'telegram:42',
  by: 'person',
};

/** A skill as the loader would give it, usable everywhere, changed as the test wants it. */
export function makeSkill(
  name: string,
  change: Partial<Omit<Skill, 'access'>> & { access?: Partial<SkillAccess> } = {},
): Skill {
  const { access, ...rest } = change;
  return {
    name,
    description: `What ${name} does.`,
    origin: 'bundled',
    path: `/skills/${name}/SKILL.md`,
    directory: `/skills/${name}`,
    metadata: {},
    others: {},
    tags: [],
    authors: [],
    env: [],
    packages: [],
    programs: [],
    installs: {},
    python: [],
    capabilities: [],
    network: [],
    maxIterations: 10,
    timeoutSeconds: 300,
    context: 'fork',
    background: false,
    agent: 'general',
    shadows: [],
    diagnostics: [],
    ...rest,
    access: { ...openAccess, ...access },
  };
}

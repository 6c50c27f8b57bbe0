import type { Skill } from '../../core/skill.ts';

/** What a list or a search says of a skill (R1). */
export function describeSkill(skill: Skill): Readonly<Record<string, unknown>> {
  const { name, version, description, tags, authors } = skill;
  return {
    name,
    ...(version === undefined ? {} : { version }),
    description,
    ...(tags.length === 0 ? {} : { tags }),
    ...(authors.length === 0 ? {} : { author: authors.join(', ') }),
  };
}

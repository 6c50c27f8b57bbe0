import { z } from 'zod';
import { succeed } from '../../core/envelope.ts';
import type { Skill } from '../../core/skill.ts';
import { prepareTool, readOnly, type Tool } from '../../core/tool.ts';
import { searchSkills, type SearchMemory } from '../../core/search-skills.ts';
import { describeSkill } from './describe-skill.ts';

/** `skills_search {query}`: visible skills that fit, best first (R1, R2). Made for each turn. */
export function createSkillsSearch(): (visible: () => readonly Skill[]) => Tool {
  const memory: SearchMemory = new WeakMap();
  const make = prepareTool({
    name: 'skills_search',
    description: 'Finds skills by words in their name, description and tags.',
    input: z.object({ query: z.string().min(1).max(500) }),
    traits: readOnly,
  });
  return (visible) =>
    make(async ({ query }) => {
      const found = searchSkills(visible(), query, memory);
      return succeed(found.length === 0 ? 'No skill available here fits.' : found.map(describeSkill));
    });
}

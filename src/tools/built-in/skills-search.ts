import { z } from 'zod';
import { succeed } from '../../core/envelope.ts';
import type { Skill } from '../../core/skill.ts';
import { defineTool, readOnly, type Tool } from '../../core/tool.ts';
import { searchSkills } from '../../skills/search-skills.ts';
import { describeSkill } from './describe-skill.ts';

/** `skills_search {query}`: visible skills that fit, best first (R1, R2). */
export function skillsSearchTool(visible: () => readonly Skill[]): Tool {
  return defineTool({
    name: 'skills_search',
    description: 'Finds skills by words in their name, description and tags.',
    input: z.object({ query: z.string().min(1).max(500) }),
    traits: readOnly,
    async run({ query }) {
      const found = searchSkills(visible(), query);
      return succeed(found.length === 0 ? 'No skill available here fits.' : found.map(describeSkill));
    },
  });
}

import { z } from 'zod';
import { succeed } from '../../core/envelope.ts';
import type { Skill } from '../../core/skill.ts';
import { defineTool, readOnly, type Tool } from '../../core/tool.ts';
import { describeSkill } from './describe-skill.ts';

/** `skills_list {}`: every skill that is visible here (R1). `visible` is asked anew for each call. */
export function skillsListTool(visible: () => readonly Skill[]): Tool {
  return defineTool({
    name: 'skills_list',
    description: 'Lists the skills available here.',
    input: z.object({}),
    traits: readOnly,
    async run() {
      const skills = visible();
      return succeed(skills.length === 0 ? 'No skills are available here.' : skills.map(describeSkill));
    },
  });
}

import { z } from 'zod';
import { succeed } from '../../core/envelope.ts';
import type { Skill } from '../../core/skill.ts';
import { prepareTool, readOnly, type Tool } from '../../core/tool.ts';
import { describeSkill } from './describe-skill.ts';

/** `skills_list {}`: every skill that is visible here (R1). Made for each turn; `visible` is asked anew for each call. */
export function createSkillsList(): (visible: () => readonly Skill[]) => Tool {
  const make = prepareTool({
    name: 'skills_list',
    description: 'Lists the skills available here.',
    input: z.object({}),
    traits: readOnly,
  });
  return (visible) =>
    make(async () => {
      const skills = visible();
      return succeed(skills.length === 0 ? 'No skills are available here.' : skills.map(describeSkill));
    });
}

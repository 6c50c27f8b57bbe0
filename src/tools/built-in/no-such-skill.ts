import { fail, type Envelope } from '../../core/envelope.ts';
import { nearest } from '../../lib/text/nearest.ts';
import { oneLine } from '../../lib/text/text.ts';
import type { Skill } from '../../core/skill.ts';

/** The one answer for a skill that is unknown or hidden here (A11). `visible`: those that may be named. */
export function noSuchSkill(name: string, visible: readonly Skill[]): Envelope {
  const written = JSON.stringify(oneLine(name, 100));
  const names = visible.map((skill) => skill.name);
  const near = nearest(name.replaceAll('_', '-'), names);
  const advice = near.length > 0 ? `. Near: ${near.join(', ')}` : '; skills_list names those there are';
  return fail('SKILL_NOT_FOUND', `there is no skill ${written} here${advice}`);
}

import { fail, type Envelope } from '../../core/envelope.ts';
import { oneLine } from '../../core/text.ts';

/** The one answer for a skill that is unknown or hidden here (A11). */
export function noSuchSkill(name: string): Envelope {
  const written = JSON.stringify(oneLine(name, 100));
  return fail('SKILL_NOT_FOUND', `there is no skill ${written} here; skills_list names those there are`);
}

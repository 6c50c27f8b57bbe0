import { nameProblems, slugOf } from './parse/skill-definition.ts';

/** The text of a new SKILL.md that passes `validate --strict`. Throws a RangeError for a name or description that cannot. */
export function newSkillText(name: string, description: string): string {
  const problems = name === '' ? ['give the skill a name'] : nameProblems(name, undefined);
  if (problems.length > 0)
    throw new RangeError(`${problems.join('; ')}; try "${slugOf(name) || 'my-skill'}"`);
  const flat = description.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  if (flat === '' || [...flat].length > 1024)
    throw new RangeError('describe the skill in 1 to 1024 characters');
  // The specification's own reader ends front matter at any "---".
  const quoted = flat.replace(/-{3,}/g, '--').replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return `---
name: ${name}
description: "${quoted}"
---

# ${name}

Say here what to do, step by step: what is asked for, which tools or scripts to use, what the answer looks like.

1. Read the request.
2. Do the work.
3. Answer with the result, and say what could not be done.
`;
}

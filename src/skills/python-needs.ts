import type { Skill } from '../core/skill.ts';
import { readSkillFile } from './skill-files.ts';
import { distribution } from './parse/read-fields.ts';

/** Packages of PyPI that a skill says its scripts import: in `requires.pip`, or in its `requirements.txt`. */
export function pythonNeeds(skill: Skill): readonly string[] {
  const listed = ['requirements.txt', 'scripts/requirements.txt'].flatMap((file) => {
    const found = skill.directory === undefined ? undefined : readSkillFile(skill, file);
    return found?.ok === true ? found.text.split('\n').flatMap((line) => distribution(line) ?? []) : [];
  });
  return [...new Set([...skill.python, ...listed])];
}

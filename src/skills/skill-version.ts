import { readFileSync } from 'node:fs';
import type { Skill } from '../core/skill.ts';
import { hashSkill, sha256Of } from './install/hash-skill.ts';

/** The folder of a skill's test cases. They say how it should behave, so they are no part of it. */
export const testsFolder = 'tests';

/** The folder of evals in the form of agentskills.io, which are no part of the skill, either (F13). */
export const evalsFolder = 'evals';

/**
 * The version of a skill as SHA-256 in hex over its files, without its tests and evals. A skill that can't be read, or that is too
 * large to hash, has the version ''.
 */
export function skillVersion({ directory, path }: Skill): string {
  if (directory === undefined) return hashOfFile(path);
  const { files } = hashSkill(directory) ?? { files: [] };
  const own = files.filter(
    ({ path: name }) => ![testsFolder, evalsFolder].includes(name.split('/', 1)[0] ?? ''),
  );
  if (own.length === 0) return '';
  return sha256Of(own.map(({ path: name, sha256 }) => JSON.stringify([name, sha256])).join('\n'));
}

function hashOfFile(path: string): string {
  try {
    return sha256Of(readFileSync(path));
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return '';
    throw error;
  }
}

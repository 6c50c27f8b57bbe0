import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { OperatorError } from '../core/errors.ts';
import { newSkillText } from '../skills/parse/skill-definition.ts';
import { openOperatorConfig } from './open-config.ts';
import type { ReadOptions } from './options.ts';
import { print } from './print.ts';

/** `skill new NAME`: a skill to begin with, in the workspace; never over one that is there. */
export async function newSkill(
  name: string,
  { config: flag, description }: ReadOptions & { description?: string },
): Promise<void> {
  const config = await openOperatorConfig(flag);
  const folder = path.join(config.bot.workspace, 'skills', name);
  const file = path.join(folder, 'SKILL.md');
  if (!/^[\p{Ll}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lo}\p{N}]+)*$/u.test(name) || [...name].length > 64) {
    throw new OperatorError(
      `"${name}" can't be a skill's name: write lower-case letters, digits and single hyphens, 64 at most.`,
    );
  }
  await mkdir(folder, { recursive: true });
  try {
    await writeFile(file, newSkillText(name, description ?? 'Say what this skill does and when to use it.'), {
      flag: 'wx',
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new OperatorError(`${file} is there already: edit it, or take another name.`);
    throw error;
  }
  print(`${file} is written. Edit it; a running bot takes it in at once.`);
}

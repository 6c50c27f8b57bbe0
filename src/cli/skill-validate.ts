import path from 'node:path';
import { OperatorError } from '../core/errors.ts';
import { validateTree } from '../skills/parse/validate-skill.ts';
import type { ReadOptions } from './options.ts';
import { print, printJson } from './print.ts';

/** `skill validate PATH`: all problems at once; exit 1 on any error (F5). */
export async function validateSkills(
  target: string,
  { strict, json }: ReadOptions & { strict?: boolean },
): Promise<void> {
  const found = validateTree(path.resolve(target), { strict: strict === true });
  if (found.length === 0)
    throw new OperatorError(
      `There is no skill at ${target}: name a SKILL.md, its folder, or a folder of skills.`,
    );
  if (found.some(({ valid }) => !valid)) process.exitCode = 1;
  if (json === true) return printJson(found);
  for (const { path: file, valid, problems } of found) {
    print(`${valid ? 'valid  ' : 'invalid'}  ${file}`);
    for (const { level, code, message, line } of problems) {
      print(`  ${level} ${code}${line === undefined ? '' : ` line ${line}`}: ${message}`);
    }
  }
}

import { existsSync, realpathSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { operatorText } from '../../core/operator-text.ts';
import type { Skill } from '../../core/skill.ts';
import { hasCode } from '../../lib/has-code.ts';
import { isInside } from '../../skills/scan-root.ts';
import { parseSkillCases, type ParsedCases, type SkillCase } from '../../skills/skill-cases.ts';
import { parseSkillEvals } from '../../skills/skill-evals.ts';
import { evalsFolder, testsFolder } from '../../skills/skill-version.ts';

/**
 * Reads the cases of a skill: `tests/*.toml` in order (L3), then `evals/evals.json` (F13). Throws OperatorError if it
 * has none. `realFolder` is the folder that its author writes.
 */
export async function readCases(skill: Skill, realFolder: () => string): Promise<ParsedCases> {
  const { directory } = skill;
  const names = directory === undefined ? [] : await namesIn(path.join(directory, testsFolder));
  const tests = names.filter((file) => file.endsWith('.toml')).toSorted();
  const evals = path.join(evalsFolder, 'evals.json');
  const files = [
    ...tests.map((file) => path.join(testsFolder, file)),
    ...(directory !== undefined && existsSync(path.join(directory, evals)) ? [evals] : []),
  ];
  if (files.length === 0)
    throw new OperatorError(
      `${skill.name} has no tests: write ${path.join(realFolder(), testsFolder, 'basic.toml')} (see docs/skill-authors.md).`,
    );
  const parsed = await Promise.all(
    files.map(async (file) => {
      const name = `${skill.name}/${file}`;
      const text = operatorText(await readFile(path.join(directory ?? '', file)), name);
      return file === evals ? parseSkillEvals(text, name) : parseSkillCases(text, name);
    }),
  );
  const problems = parsed.flatMap((one) => (one.ok ? [] : one.problems));
  const cases = parsed.flatMap((one) => (one.ok ? one.cases : []));
  return problems.length > 0 ? { ok: false, problems } : { ok: true, cases };
}

/** The first of a case's files that is not a file of the skill. Undefined: all are. */
export function fileOutside({ files }: SkillCase, folder: string): string | undefined {
  return files.find((file) => {
    const place = path.join(folder, file);
    return !existsSync(place) || !isInside(realpathSync(folder), realpathSync(place));
  });
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

import { formatConfigProblem } from '../config/config-problem.ts';
import { createRedactor } from '../lib/redaction/redact.ts';
import { secretsOfConfig } from '../config/secrets-of-config.ts';
import { OperatorError } from '../core/errors.ts';
import { readTape, writeTape } from './skill-tests/model-tape.ts';
import { testSkill, type CaseOutcome } from './skill-tests/test-skill.ts';
import { printable } from '../lib/text/text.ts';
import { openLog } from './open-log.ts';
import type { SharedOptions } from './command.ts';
import { openConfig } from './open-config.ts';
import { print, printJson } from './console.ts';
import { readWrittenSkills } from './skills-here.ts';

type TestOptions = SharedOptions & Readonly<{ name: string; record?: string; replay?: string }>;

/** Runs the tests of a skill. Exit code 1 if a case fails or can't be read (L3). */
export async function runSkillTests(options: TestOptions): Promise<void> {
  const { name, config: flag, json, record, replay } = options;
  if (record !== undefined && replay !== undefined)
    throw new OperatorError('Use --record or --replay, not both.');
  const config = await openConfig(flag);
  const log = openLog(config, 'error').log;
  const tested = await testSkill({
    config,
    skill: name,
    env: process.env,
    written: await readWrittenSkills(config, flag),
    tape: replay === undefined ? undefined : await readTape(replay),
    onOutcome: json === true ? () => undefined : printOutcome,
    log,
  });
  if (!tested.ok) {
    process.exitCode = 1;
    return json === true
      ? printJson({ skill: name, passed: 0, failed: 0, problems: tested.problems })
      : print(tested.problems.map(formatConfigProblem).join('\n'));
  }
  const { outcomes, exchanges } = tested;
  if (record !== undefined) await writeTape(record, exchanges, createRedactor(secretsOfConfig(config)));
  const failed = outcomes.filter(({ problems }) => problems.length > 0).length;
  if (failed > 0) process.exitCode = 1;
  const counts = { passed: outcomes.length - failed, failed };
  if (json === true) return printJson({ skill: name, ...counts, cases: outcomes });
  print(`${counts.passed} passed, ${failed} failed${record === undefined ? '' : `; recorded in ${record}`}`);
}

function printOutcome({ file, name, problems, durationMs }: CaseOutcome): void {
  const seconds = (durationMs / 1_000).toFixed(1);
  print(`${problems.length === 0 ? 'ok  ' : 'FAIL'}  ${file}: ${name} (${seconds} s)`);
  for (const problem of problems) print(`      ${printable(problem)}`);
}

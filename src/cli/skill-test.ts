import { readFile } from 'node:fs/promises';
import { formatConfigProblem, type ConfigProblem } from '../config/config-problem.ts';
import { createRedactor } from '../lib/redaction/redact.ts';
import { secretsOfConfig } from '../config/secrets-of-config.ts';
import { OperatorError } from '../core/errors.ts';
import { readTape, writeTape } from './skill-tests/model-tape.ts';
import { testSkill, testTriggers, type CaseOutcome, type TriggerOutcome } from './skill-tests/test-skill.ts';
import type { SkillTest } from './skill-tests/case-ground.ts';
import { parseTriggerPrompts } from '../skills/skill-evals.ts';
import { operatorText } from '../core/operator-text.ts';
import { printable } from '../lib/text/text.ts';
import { openLog } from './open-log.ts';
import type { SharedOptions } from './command.ts';
import { openConfig } from './open-config.ts';
import { print, printJson } from './console.ts';
import { readWrittenSkills } from './skills-here.ts';

type TestOptions = SharedOptions &
  Readonly<{
    name: string;
    record?: string;
    replay?: string;
    approve?: boolean;
    baseline?: boolean;
    trigger?: string;
  }>;

/** Runs the tests and evals of a skill. Exit code 1 if a case fails or can't be read (L3, F13). */
export async function runSkillTests(options: TestOptions): Promise<void> {
  const { name, config: flag, json, record, replay, approve, baseline, trigger } = options;
  if (record !== undefined && replay !== undefined)
    throw new OperatorError('Use --record or --replay, not both.');
  if (trigger !== undefined && baseline === true)
    throw new OperatorError('Use --trigger or --baseline, not both.');
  const config = await openConfig(flag);
  const shared = {
    ...{ config, skill: name, env: process.env, approve },
    written: await readWrittenSkills(config, flag),
    tape: replay === undefined ? undefined : await readTape(replay),
    log: openLog(config, 'error').log,
  };
  const keep = async (exchanges: Parameters<typeof writeTape>[1]): Promise<string> => {
    if (record === undefined) return '';
    await writeTape(record, exchanges, createRedactor(secretsOfConfig(config)));
    return `; recorded in ${record}`;
  };
  if (trigger !== undefined) return tryPrompts(trigger, shared, json === true, keep);
  const tested = await testSkill({
    ...shared,
    baseline,
    onOutcome: json === true ? () => undefined : printOutcome,
  });
  if (!tested.ok) return printProblems(name, tested.problems, json === true);
  const { outcomes, exchanges } = tested;
  const kept = await keep(exchanges);
  const failed = outcomes.filter(({ problems }) => problems.length > 0).length;
  if (failed > 0) process.exitCode = 1;
  const counts = { passed: outcomes.length - failed, failed };
  if (json === true) return printJson({ skill: name, ...counts, cases: outcomes });
  if (baseline === true) print(`\nIn all: ${compared(outcomes)}`);
  print(`${counts.passed} passed, ${failed} failed${kept}`);
}

async function tryPrompts(
  file: string,
  shared: SkillTest,
  json: boolean,
  keep: (exchanges: Parameters<typeof writeTape>[1]) => Promise<string>,
): Promise<void> {
  const text = await readFile(file).catch((error: unknown) => {
    throw new OperatorError(
      `${file} can't be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  const parsed = parseTriggerPrompts(operatorText(text, file), file);
  if (!parsed.ok) return printProblems(shared.skill, parsed.problems, json);
  const { outcomes, exchanges } = await testTriggers({
    ...shared,
    prompts: parsed.prompts,
    onOutcome: json ? () => undefined : printTrigger,
  });
  const kept = await keep(exchanges);
  const [wanted, others] = [true, false].map((should) =>
    outcomes.filter(({ shouldTrigger }) => shouldTrigger === should),
  );
  const startedOf = (of: readonly TriggerOutcome[] = []): string =>
    `${of.filter(({ started }) => started).length} of ${of.length}`;
  if (outcomes.some(isWrong)) process.exitCode = 1;
  if (json) return printJson({ skill: shared.skill, prompts: outcomes });
  print(
    `${startedOf(wanted)} prompts that should start ${shared.skill} do, and ${startedOf(others)} that should not${kept}`,
  );
}

function isWrong({ shouldTrigger, started }: TriggerOutcome): boolean {
  return shouldTrigger !== started;
}

function printTrigger(outcome: TriggerOutcome): void {
  const { query, started, others } = outcome;
  const what = started ? 'starts it' : others.length > 0 ? `starts ${others.join(', ')}` : 'starts no skill';
  print(`${isWrong(outcome) ? 'FAIL' : 'ok  '}  ${what}: ${printable(query)}`);
}

function printProblems(name: string, problems: readonly ConfigProblem[], json: boolean): void {
  process.exitCode = 1;
  if (json) return printJson({ skill: name, passed: 0, failed: 0, problems });
  print(problems.map(formatConfigProblem).join('\n'));
}

function printOutcome(outcome: CaseOutcome): void {
  const { file, name, problems, durationMs, without } = outcome;
  print(`${problems.length === 0 ? 'ok  ' : 'FAIL'}  ${file}: ${name} (${seconds(durationMs)})`);
  for (const problem of problems) print(`      ${printable(problem)}`);
  if (without !== undefined) print(`      ${compared([outcome])}`);
}

/** Quality, tokens and time with the skill and without it. */
function compared(outcomes: readonly CaseOutcome[]): string {
  const side = (all: readonly CaseOutcome[]): string => {
    const sum = (of: (one: CaseOutcome) => number): number => all.reduce((total, one) => total + of(one), 0);
    const held = `${sum(({ quality }) => quality.held)} of ${sum(({ quality }) => quality.of)} hold`;
    const tokens = sum((one) => one.tokens).toLocaleString('en');
    return `${held}, ${tokens} tokens, ${seconds(sum(({ durationMs }) => durationMs))}`;
  };
  const without = outcomes.flatMap((one) => (one.without === undefined ? [] : [one.without]));
  return `with the skill ${side(outcomes)}; without it ${side(without)}`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

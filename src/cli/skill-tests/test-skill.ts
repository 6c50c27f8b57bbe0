import { createModels } from '../../agent/models/create-models.ts';
import { onlyModel, type Model, type Models } from '../../core/model.ts';
import type { Config } from '../../config/complete-config.ts';
import type { ConfigProblem } from '../../config/config-problem.ts';
import { plainCase, type SkillCase } from '../../skills/skill-cases.ts';
import type { TriggerPrompt } from '../../skills/skill-evals.ts';
import { systemClock } from '../../lib/clock.ts';
import { ModelError, OperatorError } from '../../core/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Skill } from '../../core/skill.ts';
import type { SkillLibrary } from '../../skills/skill-library.ts';
import { judgeCase, type CaseRun } from './judge-case.ts';
import { replayed, taped, type Exchange, type TapeRecord } from './model-tape.ts';
import { onGround, type TestGround, type SkillTest } from './case-ground.ts';
import { runCase } from './run-case.ts';
import { judgeExpectations, type JudgedExpectation } from './judge-expectations.ts';
import { fileOutside, readCases } from './read-cases.ts';
import { untilSkill } from './until-skill.ts';

/** What a case came to. It passed if it has no problems. */
export type CaseOutcome = Readonly<
  CaseRun & {
    file: string;
    name: string;
    problems: readonly string[];
    verdicts: readonly JudgedExpectation[];
    durationMs: number;
    /** How many checks of the answer there are, and how many of them hold. */
    quality: Readonly<{ held: number; of: number }>;
    /** The same message while the skill is off. Undefined without `baseline`. */
    without?: CaseOutcome;
  }
>;

/** Whether a prompt started the skill, or which others it started. */
export type TriggerOutcome = TriggerPrompt & Readonly<{ started: boolean; others: readonly string[] }>;

type Exchanges = Readonly<Record<string, readonly Exchange[]>>;

export type TestedSkill =
  | Readonly<{ ok: true; outcomes: readonly CaseOutcome[]; exchanges: Exchanges }>
  /** The case files are wrong, so no case ran. */
  | Readonly<{ ok: false; problems: readonly ConfigProblem[] }>;

/**
 * Runs the cases in a skill's `tests` folder in order (L3) and then its evals (F13), with the real agent and sandbox, a
 * copy of the skills and a store in memory. With `baseline` each runs a second time while the skill is off. Throws
 * OperatorError.
 */
export function testSkill(
  options: SkillTest & Readonly<{ baseline?: boolean | undefined; onOutcome(outcome: CaseOutcome): void }>,
): Promise<TestedSkill> {
  return onGround(options, async (ground) => {
    const cases = await readCases(ground.skill, ground.realFolder);
    if (!cases.ok) return cases;
    const outcomes: CaseOutcome[] = [];
    for (const one of cases.cases) {
      const outcome = await tryCase(ground, one);
      const without = options.baseline === true ? await tryCase(ground, one, 'without') : undefined;
      outcomes.push(without === undefined ? outcome : { ...outcome, without });
      options.onOutcome(outcomes.at(-1) ?? outcome);
    }
    return { ok: true, outcomes, exchanges: ground.exchanges };
  });
}

/**
 * Tries which prompts start the skill (F13). The main agent reads each with all skills on, and no skill is carried out.
 * Throws OperatorError.
 */
export function testTriggers(
  options: SkillTest &
    Readonly<{ prompts: readonly TriggerPrompt[]; onOutcome(outcome: TriggerOutcome): void }>,
): Promise<Readonly<{ outcomes: readonly TriggerOutcome[]; exchanges: Exchanges }>> {
  return onGround(options, async (ground) => {
    const outcomes: TriggerOutcome[] = [];
    for (const prompt of options.prompts) {
      const one = { ...plainCase(prompt.query), name: prompt.query, file: 'prompts' };
      const { used, fault } = await tryCase(ground, one, 'start');
      if (fault !== undefined) throw new OperatorError(`${JSON.stringify(prompt.query)}: ${fault}`);
      const names = [...new Set(used.map(({ skill }) => skill))];
      const outcome = {
        ...prompt,
        started: names.includes(ground.skill.name),
        others: names.filter((name) => name !== ground.skill.name),
      };
      outcomes.push(outcome);
      options.onOutcome(outcome);
    }
    return { outcomes, exchanges: ground.exchanges };
  });
}

/**
 * Runs and judges a case. `without`: while the skill is off, so only what the person reads is judged. `start`: until
 * the main agent has chosen a skill.
 */
async function tryCase(ground: TestGround, one: SkillCase, how?: 'without' | 'start'): Promise<CaseOutcome> {
  const { options, skill, exchanges, log } = ground;
  const key = `${one.file}: ${one.name}${how === 'without' ? ' (without the skill)' : ''}`;
  const heard: TapeRecord = { exchanges: [], failures: [] };
  const config = only(ground.config, one, skill, ground.library, how !== 'without');
  const recorded = options.tape === undefined ? undefined : (options.tape.cases[key] ?? []);
  const makeModels = modelsFor(recorded, heard, log, how === 'start' ? untilSkill : undefined);
  const began = performance.now();
  const outside = fileOutside(one, ground.skillFolder);
  const run =
    outside === undefined
      ? await runCase(
          { ...ground, config },
          { ...one, approve: one.approve ?? (options.approve === true ? true : undefined) },
          makeModels,
          heard,
        )
      : notRun(`${outside} is no file in the folder of the skill: write a path relative to its SKILL.md`);
  const durationMs = Math.round(performance.now() - began);
  const { verdicts, problem } = await judge(makeModels(config), one, run);
  exchanges[key] = heard.exchanges;
  const ofAnswer = {
    ...one,
    skill: undefined,
    status: undefined,
    mayCall: undefined,
    mustCall: [],
    result: undefined,
  };
  const isGood = judgeCase(ofAnswer, run).length === 0;
  const wrong = verdicts.filter(({ holds }) => !holds);
  return {
    ...{ file: one.file, name: one.name, ...run, verdicts, durationMs },
    problems: [
      ...judgeCase(one, run),
      ...(problem === undefined ? [] : [problem]),
      ...wrong.map(({ expectation, evidence }) => `it does not hold that: ${expectation} (${evidence})`),
    ],
    quality: {
      held: (one.answer !== undefined && isGood ? 1 : 0) + verdicts.length - wrong.length,
      of: (one.answer === undefined ? 0 : 1) + one.expectations.length,
    },
  };
}

async function judge(
  models: Models,
  one: SkillCase,
  run: CaseRun,
): Promise<Readonly<{ verdicts: readonly JudgedExpectation[]; problem?: string }>> {
  if (one.expectations.length === 0 || run.fault !== undefined) return { verdicts: [] };
  if (models.offline)
    return { verdicts: [], problem: 'no model can judge what is expected: configure [models.default]' };
  try {
    const late = AbortSignal.timeout(one.timeoutSeconds * 1_000);
    return { verdicts: await judgeExpectations(models.get(), one, run, late) };
  } catch (error) {
    if (!(error instanceof ModelError) && !(error instanceof DOMException)) throw error;
    return { verdicts: [], problem: `what is expected could not be judged: ${error.message}` };
  }
}

function notRun(fault: string): CaseRun {
  return { used: [], called: [], answer: '', files: [], calls: [], tokens: 0, fault };
}

const noSettings = { env: {} };

/** The config in which the skill counts as enabled and approved, or is off. With `alone` every other is off. */
function only(
  config: Config,
  { alone }: SkillCase,
  skill: Skill,
  library: SkillLibrary,
  enabled: boolean,
): Config {
  const others = alone ? library.current().names.filter((name) => name !== skill.name) : [];
  const byName = { ...config.skills.byName };
  for (const name of others) byName[name] = { ...(byName[name] ?? noSettings), enabled: false };
  byName[skill.name] = { ...(byName[skill.name] ?? noSettings), enabled };
  return { ...config, skills: { ...config.skills, byName } };
}

function modelsFor(
  recorded: readonly Exchange[] | undefined,
  heard: TapeRecord,
  log: Log,
  around: (model: Model) => Model = (model) => model,
): (config: Config) => Models {
  if (recorded !== undefined) {
    const model = taped(around(replayed('default', recorded)), heard);
    return () => onlyModel(model);
  }
  return ({ models }) =>
    createModels(models, { log, clock: systemClock, measure: (model) => taped(around(model), heard) });
}

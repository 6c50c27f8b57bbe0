import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createModels } from '../../agent/models/create-models.ts';
import { onlyModel, type Models } from '../../core/model.ts';
import type { Config } from '../../config/complete-config.ts';
import type { ConfigProblem } from '../../config/config-problem.ts';
import { parseSkillCases, type SkillCase } from '../../skills/skill-cases.ts';
import { systemClock } from '../../lib/clock.ts';
import { OperatorError } from '../../core/errors.ts';
import { operatorText } from '../../core/operator-text.ts';
import type { Log } from '../../lib/log.ts';
import { nearest } from '../../lib/text/text.ts';
import type { Skill } from '../../core/skill.ts';
import { hashSkill } from '../../skills/install/hash-skill.ts';
import { createSkillLibrary, type SkillLibrary } from '../../skills/skill-library.ts';
import { readApprovals, type WrittenSkill } from '../../skills/written-skills.ts';
import { marker } from '../../skills/written-marker.ts';
import { judgeCase, type CaseRun } from './judge-case.ts';
import { replayed, taped, type Exchange, type TapeRecord, type Tape } from './model-tape.ts';
import { skillRoots, writtenRoot, openSkillSandbox } from '../../skills/open-library.ts';
import { allTools } from '../../features/list.ts';
import { openPlugins } from '../../features/plugins/plugins.ts';
import { runCase } from './run-case.ts';

export type CaseOutcome = Readonly<
  CaseRun & {
    file: string;
    name: string;
    /** What is wrong. The case passed if this is empty. */
    problems: readonly string[];
    durationMs: number;
  }
>;

export type SkillTest = Readonly<{
  config: Config;
  skill: string;
  /** Environment variables, for the `env` of skills. */
  env: Readonly<Record<string, string | undefined>>;
  written: readonly WrittenSkill[];
  /** A recording that answers in the place of a model. */
  tape?: Tape;
  onOutcome(outcome: CaseOutcome): void;
  log: Log;
}>;

export type TestedSkill =
  | Readonly<{
      ok: true;
      outcomes: readonly CaseOutcome[];
      exchanges: Readonly<Record<string, readonly Exchange[]>>;
    }>
  /** The case files are wrong, so no case ran. */
  | Readonly<{ ok: false; problems: readonly ConfigProblem[] }>;

/**
 * Runs the cases in a skill's `tests` folder in order (L3), with the real agent and sandbox, a copy of the skills and a
 * store in memory. Throws OperatorError.
 */
export async function testSkill(options: SkillTest): Promise<TestedSkill> {
  const { skill: name, env, tape, onOutcome, log } = options;
  const workspace = await mkdtemp(path.join(tmpdir(), 'skillet-test-'));
  try {
    await copySkills(writtenRoot(options.config), path.join(workspace, 'skills'));
    const config = configFor(options.config, workspace);
    const written = approvedHere(options.written, name, writtenRoot(config));
    const plugins = await openPlugins(config, { builtInTools: allTools(), clock: systemClock, log });
    const library = await openLibraryHere(config, plugins.skillFolders, written, workspace, log);
    const skill = findSkill(library, name);
    const cases = await readCases(skill, () =>
      inPlaceOf(skill, writtenRoot(config), writtenRoot(options.config)),
    );
    if (!cases.ok) return cases;
    const skillSandbox = await openSkillSandbox(config, log);
    const outcomes: CaseOutcome[] = [];
    const exchanges: Record<string, readonly Exchange[]> = {};
    try {
      for (const one of cases.cases) {
        const key = `${one.file}: ${one.name}`;
        const heard: TapeRecord = { exchanges: [], failures: [] };
        const began = performance.now();
        const ground = {
          config: only(config, one, skill, library),
          env,
          library,
          skillSandbox,
          plugins,
          written,
          clock: systemClock,
          log,
        };
        const makeModels = modelsFor(tape === undefined ? undefined : (tape.cases[key] ?? []), heard, log);
        const run = await runCase(ground, one, makeModels, heard);
        const durationMs = Math.round(performance.now() - began);
        const outcome = { file: one.file, name: one.name, ...run, problems: judgeCase(one, run), durationMs };
        outcomes.push(outcome);
        exchanges[key] = heard.exchanges;
        onOutcome(outcome);
      }
    } finally {
      await library.close();
      plugins.close();
      await skillSandbox.sandbox.close();
    }
    return { ok: true, outcomes, exchanges };
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

async function copySkills(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true, verbatimSymlinks: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

/** The config of the test: long runs are awaited, and no source is fetched. */
function configFor(config: Config, workspace: string): Config {
  return {
    ...config,
    bot: { ...config.bot, workspace },
    agent: { ...config.agent, detachAfterSeconds: 3_600 },
    skills: { ...config.skills, autoSync: false },
  };
}

/** As if it were enabled and approved; with `alone` every other is off. */
const noSettings = { env: {} };

function only(config: Config, { alone }: SkillCase, skill: Skill, library: SkillLibrary): Config {
  const others = alone ? library.current().names.filter((name) => name !== skill.name) : [];
  const byName = { ...config.skills.byName };
  for (const name of others) byName[name] = { ...(byName[name] ?? noSettings), enabled: false };
  byName[skill.name] = { ...(byName[skill.name] ?? noSettings), enabled: true };
  return { ...config, skills: { ...config.skills, byName } };
}

function approvedHere(written: readonly WrittenSkill[], name: string, root: string): readonly WrittenSkill[] {
  const hash = hashSkill(path.join(root, name));
  if (hash?.files.some((file) => file.path === marker) !== true) return written;
  const record = { name, hashes: [hash.hash], by: '', at: 0, approved: hash.hash };
  return [...written.filter((other) => other.name !== name), record];
}

function openLibraryHere(
  config: Config,
  ofPlugins: readonly string[],
  written: readonly WrittenSkill[],
  workspace: string,
  log: Log,
): Promise<SkillLibrary> {
  const records = new Map(written.map((one) => [one.name, one]));
  return createSkillLibrary({
    roots: skillRoots(config, ofPlugins),
    cacheDir: path.join(workspace, 'cache'),
    strict: config.skills.strict,
    approvals: () => readApprovals({ all: async () => records }, writtenRoot(config)),
    log,
  });
}

function findSkill(library: SkillLibrary, name: string): Skill {
  const registry = library.current();
  const skill = registry.get(name);
  if (skill !== undefined) return skill;
  const near = nearest(name, registry.names);
  throw new OperatorError(
    `There is no skill "${name}".${near.length === 0 ? '' : ` Near: ${near.join(', ')}.`}`,
  );
}

/** The real folder of a skill, in the place of its copy. */
function inPlaceOf(skill: Skill, copies: string, root: string): string {
  const { directory = skill.name } = skill;
  const real = directory.startsWith(`${copies}${path.sep}`)
    ? path.join(root, path.relative(copies, directory))
    : directory;
  const fromHere = path.relative('', real);
  return fromHere.startsWith('..') ? real : fromHere;
}

async function readCases(
  skill: Skill,
  realFolder: () => string,
): Promise<ReturnType<typeof parseSkillCases>> {
  const folder = path.join(skill.directory ?? '', 'tests');
  const names = skill.directory === undefined ? [] : await readdir(folder).catch(noFolder);
  const files = names.filter((file) => file.endsWith('.toml')).sort();
  if (files.length === 0)
    throw new OperatorError(
      `${skill.name} has no tests: write ${path.join(realFolder(), 'tests', 'basic.toml')} (see docs/skill-authors.md).`,
    );
  const parsed = await Promise.all(
    files.map(async (file) => {
      const name = `${skill.name}/tests/${file}`;
      return parseSkillCases(operatorText(await readFile(path.join(folder, file)), name), name);
    }),
  );
  const problems = parsed.flatMap((one) => (one.ok ? [] : one.problems));
  const cases = parsed.flatMap((one) => (one.ok ? one.cases : []));
  return problems.length > 0 ? { ok: false, problems } : { ok: true, cases };
}

function modelsFor(
  recorded: readonly Exchange[] | undefined,
  heard: TapeRecord,
  log: Log,
): (config: Config) => Models {
  if (recorded !== undefined) {
    const model = taped(replayed('default', recorded), heard);
    return () => onlyModel(model);
  }
  return ({ models }) =>
    createModels(models, { log, clock: systemClock, measure: (model) => taped(model, heard) });
}

function noFolder(error: NodeJS.ErrnoException): readonly string[] {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
  return [];
}

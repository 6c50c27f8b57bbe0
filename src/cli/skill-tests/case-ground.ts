import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Config } from '../../config/complete-config.ts';
import { OperatorError } from '../../core/errors.ts';
import type { Skill } from '../../core/skill.ts';
import { allTools } from '../../features/list.ts';
import { openPlugins } from '../../features/plugins/plugins.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { nearest } from '../../lib/text/text.ts';
import { hashSkill } from '../../skills/install/hash-skill.ts';
import { openSkillSandbox, skillRoots, writtenRoot } from '../../skills/open-library.ts';
import { createSkillLibrary, type SkillLibrary } from '../../skills/skill-library.ts';
import { marker } from '../../skills/written-marker.ts';
import { readApprovals, type WrittenSkill } from '../../skills/written-skills.ts';
import type { Exchange, Tape } from './model-tape.ts';
import type { CaseGround } from './run-case.ts';

export type SkillTest = Readonly<{
  config: Config;
  skill: string;
  /** Environment variables, for the `env` of skills. */
  env: Readonly<Record<string, string | undefined>>;
  written: readonly WrittenSkill[];
  /** A recording that answers in the place of a model. */
  tape?: Tape | undefined;
  /** Says yes where the policy asks and the case does not say what to answer. */
  approve?: boolean | undefined;
  log: Log;
}>;

/** What all cases of a test share, with the skill that is tested. */
export type TestGround = Omit<CaseGround, 'config'> &
  Readonly<{
    options: SkillTest;
    config: Config;
    skill: Skill;
    /** The folder that the author of the skill writes, in the place of its copy. */
    realFolder: () => string;
    /** What models were asked and answered, by the key of each case. It grows while cases run. */
    exchanges: Record<string, readonly Exchange[]>;
  }>;

/** Copies the skills, opens what cases share, and removes all of it afterwards. */
export async function onGround<Result>(
  options: SkillTest,
  work: (ground: TestGround) => Promise<Result>,
): Promise<Result> {
  const { skill: name, env, log } = options;
  const workspace = await mkdtemp(path.join(tmpdir(), 'skillet-test-'));
  try {
    await copySkills(writtenRoot(options.config), path.join(workspace, 'skills'));
    const config = configFor(options.config, workspace);
    const written = approvedHere(options.written, name, writtenRoot(config));
    const plugins = await openPlugins(config, { builtInTools: allTools(), clock: systemClock, log });
    const library = await openLibraryHere(config, plugins.skillFolders, written, workspace, log);
    const skill = findSkill(library, name);
    const skillSandbox = await openSkillSandbox(config, log);
    try {
      return await work({
        ...{ options, config, skill, env, library, skillSandbox, plugins, written, clock: systemClock, log },
        skillFolder: skill.directory ?? '',
        realFolder: () => inPlaceOf(skill, writtenRoot(config), writtenRoot(options.config)),
        exchanges: {},
      });
    } finally {
      await library.close();
      plugins.close();
      await skillSandbox.sandbox.close();
    }
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

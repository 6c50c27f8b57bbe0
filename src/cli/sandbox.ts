import { lockOwner } from '../store/sqlite/lock-owner.ts';
import { skillNeeds } from '../runs/requirements.ts';
import { skillRules } from '../config/runtime-config.ts';
import type { Config } from '../config/complete-config.ts';
import { OperatorError } from '../core/errors.ts';
import type { Skill } from '../core/skill.ts';
import { aptSources, recipeHash, rootRecipe, findRootTool } from '../sandbox/packages/root-recipe.ts';
import { buildRoot } from '../sandbox/packages/build-root.ts';
import { rootFolder, type RootFileSystem } from '../sandbox/packages/available-packages.ts';
import type { SharedOptions } from './command.ts';
import { openOperatorConfig } from './open-config.ts';
import { print, printJson, printText, untilInterrupted } from './console.ts';
import { skillsHere } from './skills-here.ts';
import { skilletHere } from '../core/skillet-here.ts';

/** Builds the root file system for sandboxes. Output of the tool goes to standard error line by line (R6, L9). */
export async function buildSandbox({
  config: flag,
  json,
  fresh = false,
}: SharedOptions & { fresh?: boolean }): Promise<void> {
  const config = await openOperatorConfig(flag);
  const recipe = rootRecipe(await enabledSkills(config), aptSources());
  const found = findRootTool();
  if (!found.ok) throw new OperatorError(`can't build a root file system here: ${found.message}`);
  using interrupted = untilInterrupted(new OperatorError('stopped: the old root file system stays in use'));
  const { status, manifest, path } = await buildRoot(
    { folder: rootFolder(config.bot.dataDir), recipe, fresh, now: Date.now(), signal: interrupted.signal },
    {
      tool: found.tool,
      lock: lockOwner,
      onLine(line) {
        if (saysSomething.test(line)) process.stderr.write(`${line}\n`);
      },
    },
  );
  if (json === true) return printJson({ status, path, ...manifest });
  const asked = manifest.asked.map(({ name }) => name);
  const holds = `${manifest.suite}, ${megabytes(manifest.bytes)}, ${asked.length === 0 ? 'no skill asks for a package' : `with ${asked.join(', ')}`}`;
  print(
    status === 'built'
      ? `${path} is built (${holds}). A running bot uses it from its next command on.`
      : `${path} is up to date (${holds}); --fresh builds it again, with the newest versions.`,
  );
}

/** Lines that say what was fetched or installed, or what is wrong. */
const saysSomething = /^(I|W|E|Err|N): |^(Get:\d|Fetched |Unpacking |Setting up |Err:\d)/;

/** Shows the sandbox and what skills need of it. Exit code 1 if a skill lacks something and is off. */
export async function sandboxStatus({ config: flag, json }: SharedOptions): Promise<void> {
  const config = await openOperatorConfig(flag);
  const skills = await enabledSkills(config);
  const { mode, why, limits, root, from, needs } = await skillNeeds(config, skills);
  if (needs.some(({ missing }) => missing.length > 0)) process.exitCode = 1;
  const data = {
    mode,
    configured: config.sandbox.mode,
    why,
    limits,
    packagesFrom: from,
    rootFileSystem: root === undefined ? null : describeRoot(root, skills),
    skills: needs,
  };
  if (json === true) return printJson(data);
  printText(`sandbox: ${mode} ([sandbox] mode = "${config.sandbox.mode}"): ${why}`);
  if (limits !== undefined) printText(`limits: ${limits}`);
  printText(`root file system: ${rootLine(data.rootFileSystem)}`);
  for (const { skill, packages, programs, missing, python, env, command } of needs) {
    const lacks = [...missing, ...python];
    const asks = [...packages, ...programs];
    if (missing.length > 0)
      printText(`skill ${skill}: lacks ${lacks.join(', ')}; it is off until you do this: ${command}`);
    else if (python.length > 0) printText(`skill ${skill}: lacks ${lacks.join(', ')}: ${command}`);
    else if (asks.length > 0) printText(`skill ${skill}: has ${asks.join(', ')}`);
    if (env.length > 0)
      printText(`skill ${skill}: needs ${env.join(', ')} in config.toml, below [skills.${skill}]`);
  }
  printText(`environment: ${environmentLine(config)}`);
  if (needs.length === 0) printText('No enabled skill asks for packages, programs or keys.');
}

/** Says which commands the keys of skills reach (U3). */
function environmentLine({ skills }: Config): string {
  const kept = Object.entries(skills.byName).filter(([, { envInBash }]) => envInBash === false);
  const except = kept.length === 0 ? '' : ` (scripts only: ${kept.map(([name]) => name).join(', ')})`;
  return `keys of [skills.NAME] reach the scripts and commands of that skill alone${except}; those reach only its hosts, and their output is redacted`;
}

type DescribedRoot = Readonly<{
  path: string;
  builtAt: string;
  suite: string;
  tool: string;
  bytes: number;
  packages: readonly string[];
  /** Whether the skills still ask for the same. Undefined if this machine can't tell. */
  current?: boolean;
}>;

function describeRoot({ path, manifest }: RootFileSystem, skills: readonly Skill[]): DescribedRoot {
  const { builtAt, suite, tool, bytes, asked, recipe } = manifest;
  return {
    path,
    builtAt: new Date(builtAt).toISOString(),
    suite,
    tool,
    bytes,
    packages: asked.map(({ name }) => name),
    ...current(recipe, skills),
  };
}

/**
 * Whether a tree fits the skills of now. A machine without apt sources can't tell, but can use a tree that was built
 * elsewhere.
 */
function current(recipe: string, skills: readonly Skill[]): Pick<DescribedRoot, 'current'> {
  try {
    return { current: recipeHash(rootRecipe(skills, aptSources())) === recipe };
  } catch (error) {
    if (error instanceof OperatorError) return {};
    throw error;
  }
}

function rootLine(root: DescribedRoot | null): string {
  if (root === null) return `none; \`${skilletHere()} sandbox build\` makes one`;
  const state =
    root.current === false
      ? `; skills ask for other packages now: run \`${skilletHere()} sandbox build\``
      : '';
  return `${root.path}, ${root.suite}, ${megabytes(root.bytes)}, built ${root.builtAt.slice(0, 16).replace('T', ' ')} by ${root.tool}, packages: ${root.packages.join(', ') || 'none beside the base'}${state}`;
}

/** The skills that are on for anybody (D3, A7). */
async function enabledSkills(config: Config): Promise<readonly Skill[]> {
  const { skills } = await skillsHere(config);
  const rules = skillRules(config);
  return skills.filter(
    ({ name, access }) => rules.enabled && (rules.skills.get(name)?.enabled ?? !access.optIn),
  );
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1_000_000)} MB`;
}

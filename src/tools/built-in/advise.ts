import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Skill } from '../../core/skill.ts';
import { packageOf, pythonPackageOf } from '../../sandbox/packages/debian-packages.ts';
import { skilletHere } from '../../core/skillet-here.ts';

/** How a command failed, and which skill ran it. */
type Failure = Readonly<{
  stdout: string;
  stderr: string;
  /** Undefined if the command was stopped. */
  exitCode: number | undefined;
  command: string | undefined;
  skill: Partial<Pick<Skill, 'name' | 'network' | 'directory'>>;
}>;

/** Returns advice if this is what made the command fail, otherwise undefined. */
type Cause = (failure: Failure) => string | undefined;

/**
 * Why a command probably failed and what helps (R5). Empty if no cause is recognised. The first cause that fits is
 * named.
 */
export function adviseOn(failure: Failure): string {
  for (const cause of causes) {
    const advice = cause(failure);
    if (advice !== undefined) return `. ${advice}`;
  }
  return '';
}

const causes: readonly Cause[] = [
  missingNetwork,
  missingModule,
  missingProgram,
  ownFileElsewhere,
  readOnlySkill,
  perhapsNetwork,
];

/** How curl, wget, git, Python, Node, npm and uv report network errors. */
const missesNetwork = [
  /could not resolve|unable to resolve|name resolution|name or service not known|nodename nor servname|network is unreachable|dns error/i,
  // Case-sensitive: `ModuleNotFoundError` is not a network error.
  /\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b/,
];

function missingNetwork({ stdout, stderr, skill }: Failure): string | undefined {
  const named = (skill.network ?? []).length > 0;
  // A pipe or `2>&1` may have moved the message into the output.
  const said = missesNetwork.some((words) => words.test(stderr) || words.test(stdout));
  return !named && said ? noNetwork(skill.name) : undefined;
}

/** Programs that are often silent about a host they can't reach, with their exit codes. */
const quiet: readonly (readonly [program: string, codes: readonly number[]])[] = [
  ['curl', [6, 7]],
  ['wget', [4]],
];

/** A script may hide which program failed, and a pipe may hide its exit code. */
function perhapsNetwork({ exitCode, command, skill }: Failure): string | undefined {
  if ((skill.network ?? []).length > 0 || exitCode === undefined) return undefined;
  const found = quiet.find(
    ([program, codes]) =>
      codes.includes(exitCode) || new RegExp(`(?:^|[\\s;&|(])${program}\\s`).test(command ?? ''),
  );
  return found && `If that is ${found[0]}, it could not reach a host. ${noNetwork(skill.name)}`;
}

/** Advice for a command that succeeded and printed nothing. */
export function adviseOnSilence(failure: Failure): string {
  const advice = perhapsNetwork({ ...failure, exitCode: 0 });
  return advice === undefined ? '' : ` ${advice}`;
}

function noNetwork(name: string | undefined): string {
  if (name === undefined) return 'Commands of the main agent have no network';
  return `Commands of ${name} have no network, as it names no hosts: the operator gives it those it needs in config.toml, [skills.${name}] network = ["api.example.com"]`;
}

const byUv =
  'A Python script gets what comes from PyPI where a "# /// script" header lists it in dependencies and the operator has installed uv';

function missingModule({ stdout, stderr, skill: { directory } }: Failure): string | undefined {
  const words = /(?:^|\W)(?:ModuleNotFoundError|python3?): No module named '?([\w.]{1,100})/;
  const module = words.exec(`${stderr}\n${stdout}`)?.[1];
  if (module === undefined) return undefined;
  const [top = ''] = module.split('.');
  const own =
    directory !== undefined && [top, `${top}.py`].some((name) => existsSync(path.join(directory, name)));
  if (own)
    return `Python looks for ${module} in the working folder, and it lies in the skill's: change there first`;
  const brings = pythonPackageOf(module);
  const how = brings === undefined ? `No Debian package is known to bring it. ${byUv}` : toInstall(brings);
  return `Python has no module ${module} here. ${how}`;
}

const fetches: ReadonlySet<string> = new Set(['uvx', 'uv', 'pipx']);

function missingProgram({ stdout, stderr, command = '' }: Failure): string | undefined {
  // How Debian's sh, bash, timeout and env say it.
  const program =
    /\b(?:ba)?sh: (?:(?:line )?\d{1,9}: )?([\w.+-]{1,60}): (?:command )?not found$/m.exec(
      `${stderr}\n${stdout}`,
    )?.[1] ??
    /\b(?:timeout|env|nice|xargs): (?:failed to run command )?[‘'"]?([\w.+-]{1,60})[’'"]?: No such file/.exec(
      stderr,
    )?.[1];
  if (program === undefined) return undefined;
  if (fetches.has(program))
    return `The program ${program} is not there for this command. ${insteadOfUv(command)}From PyPI comes only what the SKILL.md itself calls in the same words by uvx or uv run --with, and what the "# /// script" header of a script lists. Both take uv, which the operator installs: ${howToGetUv}`;
  const brings = packageOf(program);
  return brings === undefined ? undefined : `The program ${program} is not there. ${toInstall(brings)}`;
}

/** What `uv run` would do, done by the system's own Python. */
function insteadOfUv(command: string): string {
  if (!/\buv run\b/.test(command)) return '';
  const names = [...command.matchAll(/--with[= ]['"]?([\w.-]{1,60})/g)].flatMap(([, name]) => name ?? []);
  const known = names.flatMap((name) => pythonPackageOf(name) ?? []);
  const needs = names.length === 0 ? '' : `, which imports ${names.join(', ')} if the system has it`;
  const how = known.length === 0 ? '' : ` (the operator: apt-get install ${known.join(' ')})`;
  return `Write python3 in the place of uv run${needs}${how}. `;
}

const howToGetUv = "pipx install uv on the bot's system, or as https://docs.astral.sh/uv says";

/** The end of both streams: slower patterns search only this. */
function endOf({ stdout, stderr }: Pick<Failure, 'stdout' | 'stderr'>): string {
  return `${stdout.slice(-2_000)}\n${stderr.slice(-2_000)}`;
}

/** Names a path of the skill that the command looked for in another folder. */
function ownFileElsewhere({ stdout, stderr, skill: { directory } }: Failure): string | undefined {
  if (directory === undefined) return undefined;
  const said = endOf({ stdout, stderr });
  for (const [line] of said.matchAll(
    /^.*(?:No such file or directory|not found|Cannot find module|ENOENT).*$/gim,
  ))
    for (const [written] of line.matchAll(/[\w.@+-]+(?:\/[\w.@+-]+)+/g)) {
      const parts = written.split('/').filter((name) => name !== '.');
      const below = parts
        .map((_, at) => parts.slice(at))
        .find((names) => names.length > 1 && existsSync(path.join(directory, ...names)));
      if (below !== undefined && !written.startsWith('skill/'))
        return `${below.join('/')} lies in the skill, not there: write /skill/${below.join('/')}`;
    }
  return undefined;
}

function readOnlySkill({ stdout, stderr, skill: { directory } }: Failure): string | undefined {
  if (directory === undefined) return undefined;
  const said = endOf({ stdout, stderr });
  const closed = /read-only file system|\bEROFS\b|\bEBUSY\b|Device or resource busy/i.test(said);
  const inSkill = /(?:EACCES|Permission denied|ENOENT[^\n]*mkdir)[^\n]*\/skill\//.test(said);
  return closed || inSkill
    ? "The skill's files are read-only, in /skill and, if they are large, in the working folder: write to another name there, or to /chat, which is kept"
    : undefined;
}

function toInstall(name: string): string {
  return `The operator installs it: apt-get install ${name} on the bot's system, or, where a root file system is built, packages: [${name}] in the SKILL.md and ${skilletHere()} sandbox build`;
}

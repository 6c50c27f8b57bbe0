import { existsSync } from 'node:fs';
import path from 'node:path';
import { fail, succeed, type Envelope } from '../../core/envelope.ts';
import type { Skill } from '../../core/skill.ts';
import type { ToolContext } from '../../core/tool.ts';
import { capOutput, wholeEnd } from '../../sandbox/limits/cap-output.ts';
import { packageOf, pythonPackageOf } from '../../sandbox/packages/debian-packages.ts';
import type { PackagedOutcome } from '../../sandbox/packages/script-packages.ts';
import type {
  Sandbox,
  SandboxOutcome,
  SandboxOutput,
  SandboxRequest,
  ServeCap,
} from '../../sandbox/sandbox.ts';

/** `skillet-cap` for one call (C4). */
export type CapOf = (call: Pick<ToolContext, 'toolUseId' | 'mark'>) => ServeCap;

type Runner = Pick<Skill, 'name' | 'network'> & Partial<Pick<Skill, 'directory'>>;

/** Characters of a command's output that are shown, and of the end of each stream if it failed. */
const commandOutputLimit = 28_000;
const tailLimit = 4_000;

/** `what` names the command in messages; `env` holds secrets (R5, U3). */
export async function runCommand(
  {
    what,
    argv,
    packaged,
    skill,
    env,
  }: Readonly<{
    what: string;
    argv: SandboxRequest['argv'];
    packaged: PackagedOutcome | undefined;
    skill?: Runner;
    env: Readonly<Record<string, string>>;
  }>,
  request: Pick<SandboxRequest, 'scratch' | 'chat' | 'cap' | 'timeoutMs' | 'signal'>,
  sandbox: Pick<Sandbox, 'run'>,
): Promise<Envelope> {
  if (packaged?.ok === false) return unpackaged(what, packaged);
  const outcome = await sandbox.run({
    argv: packaged?.wrap(argv) ?? argv,
    ...packaged?.request,
    ...request,
    skillDirectory: skill?.directory,
    network: skill?.network ?? [],
    env: { ...env, ...packaged?.env },
    secrets: Object.entries(env).map(([name, value]) => ({ name, value })),
    outputCap: commandOutputLimit,
  });
  return answerCommand(what, outcome, request.timeoutMs, skill);
}

function unpackaged(what: string, packaged: Exclude<PackagedOutcome, { ok: true }>): Envelope {
  if (packaged.status === 'absent') return fail('SKILL_UNAVAILABLE', `${what}: ${packaged.message}`);
  const { outcome } = packaged;
  if (outcome.status === 'unavailable') return fail('SKILL_UNAVAILABLE', `${what}: ${outcome.message}`);
  if (outcome.status === 'stopped' && outcome.reason === 'cancelled')
    return fail('CANCELLED', `${what} was stopped`);
  return fail(
    'SCRIPT_FAILED',
    `the packages of ${what} could not be fetched; they may come from [sandbox] package_hosts only`,
    tailsOf(outcome),
  );
}

export function answerCommand(
  what: string,
  outcome: SandboxOutcome,
  timeoutMs: number,
  skill?: Runner,
): Envelope {
  if (outcome.status === 'unavailable') return fail('SKILL_UNAVAILABLE', `${what}: ${outcome.message}`);
  const network = aboutNetwork(outcome, skill);
  if (outcome.status === 'stopped') {
    const [code, why] = stops[outcome.reason];
    const limit = outcome.reason === 'timeout' ? ` within ${timeoutMs / 1_000} s and was stopped` : '';
    return fail(code, `${what} ${why}${limit}${network}`, tailsOf(outcome));
  }
  if (outcome.exitCode !== 0)
    return fail(
      'SCRIPT_FAILED',
      `${what} ended with exit code ${outcome.exitCode}${network || aboutMissing(outcome, skill)}`,
      tailsOf(outcome),
    );
  const { stdout, stderr, refused = [] } = outcome;
  const about = refused.length === 0 ? '' : `\n[network]${network.slice(1)}`;
  if (stderr === '') return succeed(`${stdout === '' ? 'It printed nothing.' : stdout}${about}`);
  const room = commandOutputLimit - Math.min(stderr.length, tailLimit);
  return succeed(`${capOutput(stdout, room).text}\n[stderr]\n${capOutput(stderr, tailLimit).text}${about}`);
}

const stops = {
  timeout: ['SCRIPT_TIMEOUT', 'did not end'],
  cancelled: ['CANCELLED', 'was stopped'],
  cpu: ['SCRIPT_TIMEOUT', 'used all the processor time that a command may use and was stopped'],
  memory: ['SCRIPT_FAILED', 'ran out of memory and was stopped'],
  processes: ['SCRIPT_FAILED', 'started more processes than a command may have and was stopped'],
  disk: [
    'SCRIPT_FAILED',
    'filled its folders ([sandbox] disk_mb each) and was stopped: write less, or remove files that are not needed. What it wrote last may be gone',
  ],
  output: ['SCRIPT_FAILED', 'printed more than a command may print and was stopped'],
  crashed: ['SCRIPT_FAILED', 'could not be finished: the sandbox ended'],
} as const;

/** How curl, wget, git, Python and Node report network errors. */
const missesNetwork = [
  /could not resolve|unable to resolve|name resolution|name or service not known|nodename nor servname|network is unreachable/i,
  // Case-sensitive: `ModuleNotFoundError` is not a network error.
  /\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b/,
];

/** Exit codes of quiet programs that reached no host. */
const quietly: ReadonlyMap<number, string> = new Map([
  [4, 'wget'],
  [6, 'curl'],
  [7, 'curl'],
]);

/** How to allow the network; empty if nothing shows that the command wanted it. */
function aboutNetwork(
  outcome: Extract<SandboxOutcome, SandboxOutput>,
  skill: Pick<Skill, 'name' | 'network'> | undefined,
): string {
  const { refused = [], stderr } = outcome;
  if (refused.length > 0)
    return `. The network refused it ${refused.join(', ')}: the operator adds hosts in config.toml, [skills.${skill?.name ?? 'NAME'}] network = ["api.example.com"]`;
  if ((skill?.network ?? []).length > 0) return '';
  if (missesNetwork.some((words) => words.test(stderr))) return `. ${noNetwork(skill?.name)}`;
  const program =
    outcome.status === 'exited' && stderr.trim() === '' ? quietly.get(outcome.exitCode) : undefined;
  return program === undefined
    ? ''
    : `. If that is ${program}, it could not reach a host. ${noNetwork(skill?.name)}`;
}

function noNetwork(name: string | undefined): string {
  if (name === undefined) return 'Commands of the main agent have no network';
  return `Commands of ${name} have no network, as it names no hosts: the operator gives it those it needs in config.toml, [skills.${name}] network = ["api.example.com"]`;
}

/** The ends of both streams; undefined if both are empty. */
function tailsOf({ stdout, stderr }: SandboxOutput): string | undefined {
  const streams = [
    ...(stdout === '' ? [] : [`[end of stdout]\n${wholeEnd(stdout, tailLimit)}`]),
    ...(stderr === '' ? [] : [`[end of stderr]\n${wholeEnd(stderr, tailLimit)}`]),
  ];
  return streams.length === 0 ? undefined : streams.join('\n');
}

const fetches: ReadonlySet<string> = new Set(['uvx', 'uv', 'pipx']);

const byUv =
  'A Python script gets what comes from PyPI where a "# /// script" header lists it in dependencies and the operator has installed uv';

/** How to install what a command did not find (R5); else empty. */
export function aboutMissing(
  { stdout, stderr }: Pick<SandboxOutput, 'stdout' | 'stderr'>,
  skill: Partial<Pick<Skill, 'directory'>> = {},
): string {
  const said = `${stderr}\n${stdout}`;
  const module = /(?:^|\W)(?:ModuleNotFoundError|python3?): No module named '?([\w.]{1,100})/.exec(said)?.[1];
  if (module !== undefined) return aboutModule(module, skill.directory);
  // In the words of Debian's sh, and of bash.
  const program = /\b(?:ba)?sh: (?:(?:line )?\d{1,9}: )?([\w.+-]{1,60}): (?:command )?not found$/m.exec(
    said,
  )?.[1];
  if (program !== undefined && fetches.has(program))
    return `. The program ${program} is not there: a command's tools come from PyPI only where the SKILL.md calls them by uvx in the same words. ${byUv}`;
  const brings = program === undefined ? undefined : packageOf(program);
  return brings === undefined ? '' : `. The program ${program} is not there. ${toInstall(brings)}`;
}

function aboutModule(module: string, directory: string | undefined): string {
  const [top = ''] = module.split('.');
  const own =
    directory !== undefined && [top, `${top}.py`].some((name) => existsSync(path.join(directory, name)));
  if (own)
    return `. Python looks for ${module} in the working folder, and it lies in the skill's: change there first`;
  const brings = pythonPackageOf(module);
  const how = brings === undefined ? `No Debian package is known to bring it. ${byUv}` : toInstall(brings);
  return `. Python has no module ${module} here. ${how}`;
}

function toInstall(name: string): string {
  return `The operator installs it: apt-get install ${name} on the bot's system, or, where a root file system is built, packages: [${name}] in the SKILL.md and skillet sandbox build`;
}

import { existsSync } from 'node:fs';
import path from 'node:path';
import { fail, succeed, type Envelope } from '../../core/envelope.ts';
import type { Skill } from '../../core/skill.ts';
import type { ToolContext } from '../../core/tool.ts';
import type { Secret } from '../../lib/redaction/redact.ts';
import { capOutput, wholeEnd } from '../../sandbox/limits/cap-output.ts';
import { packageOf, pythonPackageOf } from '../../sandbox/packages/debian-packages.ts';
import type { SandboxOutcome, SandboxOutput, ServeCap } from '../../sandbox/sandbox.ts';

/** What skills of other systems have a tool of PyPI fetched and run by. */
const fetches: ReadonlySet<string> = new Set(['uvx', 'uv', 'pipx']);

const byUv =
  'A Python script gets what comes from PyPI where a "# /// script" header lists it in dependencies and the operator has installed uv';

/** `skillet-cap` for the commands of one call (C4). */
export type CapOf = (call: Pick<ToolContext, 'toolUseId' | 'mark'>) => ServeCap;

/** Characters of a command's output that are shown, and of each stream's end where it failed. */
export const commandOutputLimit = 28_000;
const tailLimit = 4_000;

/** What a model is told of a command that ran in the sandbox for a skill, or for the main agent; `what` is what messages call it (R5). */
export function answerCommand(
  what: string,
  outcome: SandboxOutcome,
  timeoutMs: number,
  skill?: Pick<Skill, 'name' | 'network'> & Partial<Pick<Skill, 'directory'>>,
): Envelope {
  if (outcome.status === 'unavailable') return fail('SKILL_UNAVAILABLE', `${what}: ${outcome.message}`);
  const network = aboutNetwork(outcome, skill);
  if (outcome.status === 'stopped') {
    const code = stopCodes[outcome.reason];
    const why = {
      timeout: `did not end within ${timeoutMs / 1_000} s and was stopped`,
      cancelled: 'was stopped',
      cpu: 'used all the processor time that a command may use and was stopped',
      memory: 'ran out of memory and was stopped',
      processes: 'started more processes than a command may have and was stopped',
      disk: 'filled its folders ([sandbox] disk_mb each) and was stopped: write less, or remove files that are not needed. What it wrote last may be gone',
      output: 'printed more than a command may print and was stopped',
      crashed: 'could not be finished: the sandbox ended',
    }[outcome.reason];
    return fail(code, `${what} ${why}${network}`, tailsOf(outcome));
  }
  if (outcome.exitCode !== 0)
    return fail(
      'SCRIPT_FAILED',
      `${what} ended with exit code ${outcome.exitCode}${network || aboutMissing(outcome, skill)}`,
      tailsOf(outcome),
    );
  const { stdout, stderr, refused = [] } = outcome;
  const about = refused.length === 0 ? '' : `\n[network]${network.slice(1)}`;
  if (stderr === '') return succeed(`${stdout === '' ? nothing : stdout}${about}`);
  const room = commandOutputLimit - Math.min(stderr.length, tailLimit);
  return succeed(`${capOutput(stdout, room).text}\n[stderr]\n${capOutput(stderr, tailLimit).text}${about}`);
}

/** How curl, wget, git, Python and Node say that no name can be resolved and nothing reached. */
const missesNetwork = [
  /could not resolve|unable to resolve|name resolution|name or service not known|nodename nor servname|network is unreachable/i,
  // With its case: "ModuleNotFoundError" is no error of the network.
  /\b(?:ENOTFOUND|EAI_AGAIN|ENETUNREACH)\b/,
];

/** Exit codes of programs that reached no host and were told to be quiet. */
const quietly: ReadonlyMap<number, string> = new Map([
  [4, 'wget'],
  [6, 'curl'],
  [7, 'curl'],
]);

/** What a command without the network it wanted is missing; empty where nothing shows that it wanted one. */
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

/** Skills of elsewhere know nothing of declaring hosts, so this is where their authors' commands end. */
function noNetwork(name: string | undefined): string {
  if (name === undefined) return 'Commands of the main agent have no network';
  return `Commands of ${name} have no network, as it names no hosts: the operator gives it those it needs in config.toml, [skills.${name}] network = ["api.example.com"]`;
}

const nothing = 'It printed nothing.';

const stopCodes = {
  timeout: 'SCRIPT_TIMEOUT',
  cancelled: 'CANCELLED',
  cpu: 'SCRIPT_TIMEOUT',
  memory: 'SCRIPT_FAILED',
  processes: 'SCRIPT_FAILED',
  disk: 'SCRIPT_FAILED',
  output: 'SCRIPT_FAILED',
  crashed: 'SCRIPT_FAILED',
} as const;

/** What the output of a command with this environment must not show (U3). */
export function secretsIn(env: Readonly<Record<string, string>>): readonly Secret[] {
  return Object.entries(env).map(([name, value]) => ({ name, value }));
}

/** The ends of both streams; undefined if both are empty. */
export function tailsOf({ stdout, stderr }: SandboxOutput): string | undefined {
  const streams = [
    ...(stdout === '' ? [] : [`[end of stdout]\n${wholeEnd(stdout, tailLimit)}`]),
    ...(stderr === '' ? [] : [`[end of stderr]\n${wholeEnd(stderr, tailLimit)}`]),
  ];
  return streams.length === 0 ? undefined : streams.join('\n');
}

/** What brings the Python module or the program that a command did not find (R5); empty where it says of none. */
export function aboutMissing(
  { stdout, stderr }: Pick<SandboxOutput, 'stdout' | 'stderr'>,
  skill: Partial<Pick<Skill, 'directory'>> = {},
): string {
  const said = `${stderr}\n${stdout}`;
  const module = /(?:^|\W)(?:ModuleNotFoundError|python3?): No module named '?([\w.]{1,100})/.exec(said)?.[1];
  if (module !== undefined) return aboutModule(module, skill.directory);
  // As Debian's sh says it, and bash.
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

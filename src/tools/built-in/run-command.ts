import { fail, succeed, type Envelope } from '../../core/envelope.ts';
import type { Skill } from '../../core/skill.ts';
import type { ToolContext } from '../../core/tool.ts';
import { capOutput, wholeEnd } from '../../sandbox/limits/cap-output.ts';
import type { PackagedOutcome } from '../../sandbox/packages/script-packages.ts';
import type {
  Sandbox,
  SandboxOutcome,
  SandboxOutput,
  SandboxRequest,
  ServeCap,
} from '../../sandbox/sandbox.ts';
import { adviseOn, adviseOnSilence } from './advise.ts';

/** Makes `skillet-cap` for the commands of one call (C4). */
export type CapOf = (call: ToolContext) => ServeCap;

type Runner = Pick<Skill, 'name' | 'network'> & Partial<Pick<Skill, 'directory'>>;

/** Characters of a command's output that are shown, and characters of the end of each stream if it failed. */
const commandOutputLimit = 28_000;
const tailLimit = 4_000;

/** Runs a command in the sandbox. `what` names it in messages; the values of `env` are secrets (R5, U3). */
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
  sandbox: Sandbox,
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
  return answerCommand(what, outcome, request.timeoutMs, skill, argv.join(' '));
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
  command?: string,
): Envelope {
  if (outcome.status === 'unavailable') return fail('SKILL_UNAVAILABLE', `${what}: ${outcome.message}`);
  const { stdout, stderr, refused = [] } = outcome;
  const exitCode = outcome.status === 'exited' ? outcome.exitCode : undefined;
  const failure = { stdout, stderr, exitCode, command, skill: skill ?? {} };
  const advice = exitCode === 0 ? '' : aboutRefused(refused, skill) || adviseOn(failure);
  if (outcome.status === 'stopped') {
    const [code, why] = stops[outcome.reason];
    const limit = outcome.reason === 'timeout' ? ` within ${timeoutMs / 1_000} s and was stopped` : '';
    return fail(code, `${what} ${why}${limit}${advice}`, tailsOf(outcome));
  }
  if (exitCode !== 0)
    return fail('SCRIPT_FAILED', `${what} ended with exit code ${exitCode}${advice}`, tailsOf(outcome));
  const about = refused.length === 0 ? '' : `\n[network]${aboutRefused(refused, skill).slice(1)}`;
  const said = stdout === '' ? `It printed nothing.${adviseOnSilence(failure)}` : stdout;
  if (stderr === '') return succeed(`${said}${about}`);
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

function aboutRefused(refused: readonly string[], skill: Runner | undefined): string {
  if (refused.length === 0) return '';
  return `. The network refused the connection to ${refused.join(', ')}${wayToHosts(refused.join(), skill?.name ?? 'NAME')}`;
}

/**
 * What the operator can do about each reason of the proxy. A host that can't be looked up has nothing to do with the
 * list of hosts.
 */
function wayToHosts(reasons: string, name: string): string {
  const ways = [
    /is not declared|addresses are refused/.test(reasons) &&
      `the operator adds hosts in config.toml, [skills.${name}] network = ["api.example.com"]`,
    /\(port \d+ is refused/.test(reasons) &&
      `the operator names the port in config.toml, [skills.${name}] network = ["api.example.com:8443"]`,
    /not on the public internet/.test(reasons) &&
      'it is in a private network: the operator allows that in config.toml, [sandbox] private_networks = ["10.0.0.0/8"]',
    /there is no host/.test(reasons) &&
      "the bot's own machine can't look that name up: check how it is written, and the DNS of the machine",
  ].filter((way) => way !== false);
  return ways.length === 0 ? '' : `: ${ways.join('; ')}`;
}

/** The ends of both streams. Undefined if both are empty. */
function tailsOf({ stdout, stderr }: SandboxOutput): string | undefined {
  const streams = [
    ...(stdout === '' ? [] : [`[end of stdout]\n${wholeEnd(stdout, tailLimit)}`]),
    ...(stderr === '' ? [] : [`[end of stderr]\n${wholeEnd(stderr, tailLimit)}`]),
  ];
  return streams.length === 0 ? undefined : streams.join('\n');
}

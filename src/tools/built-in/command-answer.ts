import { fail, succeed, type Envelope } from '../../core/envelope.ts';
import { capOutput, wholeEnd } from '../../sandbox/cap-output.ts';
import type { SandboxOutcome, SandboxOutput } from '../../sandbox/sandbox.ts';

/** Characters of a command's output that are shown, and of each stream's end where it failed. */
export const commandOutputLimit = 28_000;
const tailLimit = 4_000;

/** What a model is told of a command that ran in the sandbox; `what` is what messages call it (R5). */
export function answerCommand(what: string, outcome: SandboxOutcome, timeoutMs: number): Envelope {
  if (outcome.status === 'unavailable') return fail('SKILL_UNAVAILABLE', `${what}: ${outcome.message}`);
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
    return fail(code, `${what} ${why}`, tailsOf(outcome));
  }
  if (outcome.exitCode !== 0) {
    return fail('SCRIPT_FAILED', `${what} ended with exit code ${outcome.exitCode}`, tailsOf(outcome));
  }
  const { stdout, stderr } = outcome;
  if (stderr === '') return succeed(stdout === '' ? nothing : stdout);
  const room = commandOutputLimit - Math.min(stderr.length, tailLimit);
  return succeed(`${capOutput(stdout, room).text}\n[stderr]\n${capOutput(stderr, tailLimit).text}`);
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

/** The ends of both streams; nothing where both are empty. */
export function tailsOf({ stdout, stderr }: SandboxOutput): string | undefined {
  const streams = [
    ...(stdout === '' ? [] : [`[end of stdout]\n${wholeEnd(stdout, tailLimit)}`]),
    ...(stderr === '' ? [] : [`[end of stderr]\n${wholeEnd(stderr, tailLimit)}`]),
  ];
  return streams.length === 0 ? undefined : streams.join('\n');
}

import { spawn, type ChildProcess } from 'node:child_process';
import type { EndWithUs } from './end-with-us.ts';
import { killOne, killTree } from './kill-processes.ts';
import { onAbort } from '../async/on-abort.ts';

type RanProgram =
  | Readonly<{ ended: 'exit'; code: number; output: Buffer; complaint: string }>
  /** `held` means that the process ended, but a child of it kept its output open. */
  | Readonly<{ ended: 'absent' | 'signal' | 'timeout' | 'held' | 'too much'; complaint: string }>;

/** How many bytes an answer may have. A process that writes more is ended. */
export const answerLimit = 2 * 1024 * 1024;
/** How many characters of the end of stderr are kept. */
const complaintLimit = 2_000;
const drainMs = 500;

/** Our variables that programs get which an operator named. None is a secret. */
const passed = ['PATH', 'HOME', 'USER', 'LANG', 'TZ', 'TMPDIR'];

export function programEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const kept = passed.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return Object.fromEntries(kept);
}

/**
 * Runs one process (C2). Its process group ends after its answer, at a timeout, at too much output, when `signal`
 * aborts (then this throws the reason), and together with the bot.
 */
export async function runProgram(options: {
  command: readonly string[];
  input: string;
  timeoutMs: number;
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
  endWithUs: EndWithUs;
}): Promise<RanProgram> {
  const { command, input, timeoutMs, env, signal, endWithUs } = options;
  const [program = '', ...args] = command;
  signal.throwIfAborted();
  const child = spawn(program, args, { env: { ...env }, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const { pid } = child;
  const ended = Promise.withResolvers<'absent' | 'timeout' | 'held' | 'too much' | 'stopped' | 'closed'>();
  const exit: { code?: number | undefined; drain?: NodeJS.Timeout } = {};
  const output: Buffer[] = [];
  let size = 0;
  let complaint = '';

  child.once('error', () => ended.resolve('absent'));
  child.once('close', () => ended.resolve('closed'));
  child.once('exit', (code) => {
    exit.code = code ?? undefined;
    exit.drain = setTimeout(() => ended.resolve('held'), drainMs);
  });
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > answerLimit) ended.resolve('too much');
    else output.push(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString('utf8')).slice(-complaintLimit);
  });
  // The program may end before it has read all of its input.
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(input);
  const time = setTimeout(() => ended.resolve('timeout'), timeoutMs);
  const stopListening = onAbort(signal, () => ended.resolve('stopped'));
  const end = (): void => endGroup(child);
  // If the bot is killed, the group ends; processes that have left the group do not.
  process.once('exit', end);
  const forget = pid === undefined ? undefined : endWithUs(pid);
  try {
    const how = await ended.promise;
    signal.throwIfAborted();
    if (how === 'closed' && exit.code !== undefined)
      return { ended: 'exit', code: exit.code, output: Buffer.concat(output), complaint };
    return { ended: how === 'closed' || how === 'stopped' ? 'signal' : how, complaint };
  } finally {
    clearTimeout(time);
    clearTimeout(exit.drain);
    stopListening();
    process.removeListener('exit', end);
    end();
    forget?.();
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    child.unref();
  }
}

function endGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined) return;
  // The id of a process may be reused, but that of a group is not as long as the group has a process.
  if (exitCode === null && signalCode === null) killTree(pid);
  else killOne(-pid);
}

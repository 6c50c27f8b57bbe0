import { spawn } from 'node:child_process';
import type { EndWithUs } from '../lib/processes/end-with-us.ts';
import { killOne, killTree } from '../lib/processes/kill-processes.ts';

/** How a bridge's process ended. */
export type BridgeProcess =
  | Readonly<{ ended: 'exit'; code: number; output: Buffer; complaint: string }>
  /** `held`: it ended, and something that it started still held its output. */
  | Readonly<{ ended: 'absent' | 'signal' | 'timeout' | 'held' | 'too much'; complaint: string }>;

/** Bytes of an answer; a process that writes more is ended. */
export const answerLimit = 2 * 1024 * 1024;
/** Its last words, for the operator's log. */
const complaintLimit = 2_000;
/** So long may its output stay open after it has ended. */
const drainMs = 500;

/** What of its own environment the bot passes to programs that an operator named: none of its secrets. */
const passed = ['PATH', 'HOME', 'USER', 'LANG', 'TZ', 'TMPDIR'];

export function programEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const kept = passed.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return Object.fromEntries(kept);
}

/**
 * Runs one process for one call and takes what it wrote (C2). It has a group of its own, which is ended with it: at the end of
 * its time, when it writes too much, when the signal is aborted (then the reason is thrown), after it has answered, and when this process ends.
 */
export async function runBridgeProcess(options: {
  command: readonly string[];
  input: string;
  timeoutMs: number;
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
  endWithUs: EndWithUs;
}): Promise<BridgeProcess> {
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
  // It may end before it has read everything: how it ended says enough.
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(input);
  const time = setTimeout(() => ended.resolve('timeout'), timeoutMs);
  const stop = (): void => ended.resolve('stopped');
  const end = (): void => {
    if (pid === undefined) return;
    // Once it has ended its number may be another process's, but not that of its group while anything is in there.
    if (child.exitCode === null && child.signalCode === null) killTree(pid);
    else killOne(-pid);
  };
  signal.addEventListener('abort', stop, { once: true });
  // The group ends also where this process is killed; what left it only where there is time to look for it.
  process.once('exit', end);
  const forget = pid === undefined ? undefined : endWithUs(pid);
  try {
    const how = await ended.promise;
    signal.throwIfAborted();
    if (how === 'closed') {
      return exit.code === undefined
        ? { ended: 'signal', complaint }
        : { ended: 'exit', code: exit.code, output: Buffer.concat(output), complaint };
    }
    return { ended: how === 'stopped' ? 'signal' : how, complaint };
  } finally {
    clearTimeout(time);
    clearTimeout(exit.drain);
    signal.removeEventListener('abort', stop);
    process.removeListener('exit', end);
    end();
    forget?.();
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    child.unref();
  }
}

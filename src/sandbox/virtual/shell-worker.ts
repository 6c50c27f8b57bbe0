import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { systemClock } from '../../lib/clock.ts';
import { createDeadline } from '../../lib/async/deadline.ts';
import type { Secret } from '../../lib/redaction/redact.ts';
import { pausing, type CapAnswer, type SandboxOutcome, type ServeCap, type StopReason } from '../sandbox.ts';
import { onAbort } from '../../lib/async/on-abort.ts';

/** How a shell is set up. Folders are paths on the host. */
export type ShellSetup = Readonly<{
  skill?: string;
  scratch: string;
  chat?: string;
  memoryMb: number;
}>;

export type ShellJob = Readonly<{
  argv: readonly [program: string, ...rest: string[]];
  env: Readonly<Record<string, string>>;
  secrets: readonly Secret[];
  timeoutMs: number;
  outputCap: number;
  room: Readonly<{ scratch: number; chat: number }>;
  cap: boolean;
}>;

export type WorkerRequest = Readonly<{
  status: 'asks';
  number: number;
  words: readonly string[];
  input: string;
}>;
export type ShellNotice = Readonly<{ told: number; answer: CapAnswer }>;

/** What a shell answers. `missing` means that it has no such program. */
export type ShellAnswer =
  | Readonly<{ status: 'ready' }>
  | Readonly<{ status: 'missing'; program: string }>
  | Exclude<SandboxOutcome, { status: 'unavailable' }>;

export type ShellWorker = Readonly<{
  /** Runs one job at a time. It ends the process on abort or timeout. */
  run(
    job: Omit<ShellJob, 'cap'> & Readonly<{ cap?: ServeCap }>,
    signal: AbortSignal,
  ): Promise<Exclude<ShellAnswer, { status: 'ready' }>>;
  alive(): boolean;
  end(): Promise<void>;
}>;

/** Milliseconds for the shell to end by itself. */
const grace = 1_000;
const startLimit = 30_000;
const longestMs = 86_400_000;

/** Starts a shell in a process of its own. `library` is the `node_modules` folder with just-bash. */
export function startShellWorker(setup: ShellSetup, library: string): ShellWorker {
  const child = forkWorker(setup, library);
  const gone = once(child, 'exit').then(
    ([code, signal]: unknown[]) =>
      stopped(diedOfHunger(signal) ? 'memory' : 'crashed', `ended: ${String(signal ?? code)}`),
    (error: unknown) => stopped('crashed', String(error)),
  );
  const heard = (): Promise<ShellAnswer> => Promise.race([nextAnswer(child), gone]);
  const ready = heard();

  const end = async (): Promise<void> => {
    keepAwake(child, true);
    child.kill('SIGKILL');
    await gone;
  };

  const ask = async (job: Parameters<ShellWorker['run']>[0], signal: AbortSignal): Promise<ShellAnswer> => {
    const first = await within(startLimit, ready, stopped('crashed', 'it did not start'));
    if (first.status !== 'ready') return first;
    const { env, secrets, timeoutMs, outputCap, room } = job;
    const [program, ...args] = job.argv;
    const argv = [program, ...(program === 'sh' || program === 'bash' ? shellStart(args) : args)] as const;
    const deadline = createDeadline(systemClock);
    const { cap } = pausing(job.cap, deadline);
    const stopServing = cap === undefined ? () => undefined : serveCap(child, cap, signal);
    // Its clock may pause, which the shell does not know.
    const inside = cap === undefined ? timeoutMs : longestMs;
    const sent = { argv, env, secrets, timeoutMs: inside, outputCap, room, cap: cap !== undefined };
    child.send(sent satisfies ShellJob);
    deadline.start(timeoutMs + grace);
    try {
      return await unlessAborted(heard(), deadline.signal, stopped('timeout'));
    } finally {
      deadline.end();
      stopServing();
    }
  };

  return {
    async run(job, signal) {
      keepAwake(child, true);
      const answer = await unlessAborted(ask(job, signal), signal, stopped('cancelled'));
      if (answer.status === 'ready') throw new Error('a cell said twice that it is ready');
      if (answer.status === 'stopped') await end();
      keepAwake(child, false);
      return answer;
    },
    alive: () => child.connected,
    end,
  };
}

/**
 * Starts a Node process without the host's environment. By Node's permission model it can read the library and its
 * folders, write all of those but the skill's, and start nothing.
 */
function forkWorker(setup: ShellSetup, library: string): ChildProcess {
  const extension = import.meta.filename.endsWith('.ts') ? '.ts' : '.js';
  const source = path.join(import.meta.dirname, '../..');
  const code = ['sandbox', 'lib'].map((room) => path.join(source, room));
  const readable = [library, ...code, ...(setup.skill === undefined ? [] : [setup.skill])];
  const writable = [setup.scratch, ...(setup.chat === undefined ? [] : [setup.chat])];
  return fork(`${import.meta.dirname}/shell-worker-process${extension}`, [JSON.stringify(setup)], {
    env: {},
    execArgv: [
      '--permission',
      '--allow-worker',
      '--no-warnings',
      ...[...readable, ...writable].map((folder) => `--allow-fs-read=${folder}/*`),
      ...writable.map((folder) => `--allow-fs-write=${folder}/*`),
    ],
    // It has its own session, because Ctrl-C at the terminal is for the bot.
    detached: true,
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}

function nextAnswer(child: ChildProcess): Promise<ShellAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ShellAnswer>();
  const listen = (message: unknown): void => {
    if ((message as WorkerRequest | ShellAnswer).status !== 'asks') resolve(message as ShellAnswer);
  };
  child.on('message', listen).once('error', reject);
  return promise.finally(() => child.off('message', listen).off('error', reject));
}

function serveCap(child: ChildProcess, serve: ServeCap, signal: AbortSignal): () => void {
  const over = new AbortController();
  const listen = (message: unknown): void => {
    const asks = message as WorkerRequest | ShellAnswer;
    if (asks.status !== 'asks') return;
    const { number, words, input } = asks;
    const tell = (answer: CapAnswer): void => {
      if (child.connected) child.send({ told: number, answer } satisfies ShellNotice);
    };
    serve(words, input, AbortSignal.any([signal, over.signal])).then(tell, () =>
      tell({ stdout: '', stderr: 'skillet-cap: the bot gave no answer\n', exitCode: 3 }),
    );
  };
  child.on('message', listen);
  return () => {
    child.off('message', listen);
    over.abort();
  };
}

/** Makes a worker keep the bot alive or not. Idle ones don't. */
function keepAwake(child: ChildProcess, awake: boolean): void {
  if (awake) child.ref();
  else child.unref();
  if (awake) child.channel?.ref();
  else child.channel?.unref();
}

/** Whether it ran out of memory: V8 aborts, or the system kills it. */
function diedOfHunger(signal: unknown): boolean {
  return signal === 'SIGABRT' || signal === 'SIGKILL';
}

function stopped(reason: StopReason, stderr = ''): Extract<SandboxOutcome, { status: 'stopped' }> {
  return { status: 'stopped', reason, stdout: '', stderr, truncated: false };
}

async function within<T>(ms: number, promise: Promise<T>, late: T): Promise<T> {
  const { promise: over, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(resolve, ms, late);
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}

async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal, aborted: T): Promise<T> {
  const { promise: over, resolve } = Promise.withResolvers<T>();
  const stopListening = onAbort(signal, () => resolve(aborted));
  try {
    return await Promise.race([promise, over]);
  } finally {
    stopListening();
  }
}

/**
 * Runs `sh -eu -o pipefail FILE ARGS` as set and source, because this shell accepts no options before a file. It drops
 * `-l` and `--posix`, and keeps `-c`.
 */
export function shellStart(args: readonly string[]): readonly string[] {
  const settings: string[] = [];
  let next = 0;
  for (let option = args[next]; option !== undefined && /^[-+]./.test(option); option = args[next]) {
    if (/^-[a-z]*[cs]/.test(option)) return args;
    next++;
    const [, sign = '', letters = ''] = /^([-+])([A-Za-z]+)$/.exec(option) ?? [];
    const kept = letters.replace(/[^aefnuvxC]/g, '');
    if (kept !== '') settings.push(sign + kept);
    if (letters.endsWith('o')) {
      const named = args[next++] ?? '';
      if (/^[a-z]+$/.test(named)) settings.push(`${sign}o ${named}`);
    }
  }
  const [script, ...rest] = args.slice(next);
  if (script === undefined || next === 0) return args;
  const set = settings.length === 0 ? '' : `set ${settings.join(' ')}; `;
  return ['-c', `${set}. "$0"`, script, ...rest];
}

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { systemClock } from '../../lib/clock.ts';
import { createDeadline } from '../../lib/async/deadline.ts';
import type { Secret } from '../../lib/redaction/redact.ts';
import { pausing } from '../container/pausing.ts';
import type { CapAnswer, SandboxOutcome, ServeCap } from '../sandbox.ts';

/** What a cell is made for; it is never used for anything else. Folders are real paths of the host. */
export type ShellSetup = Readonly<{
  skill?: string;
  scratch: string;
  chat?: string;
  memoryMb: number;
}>;

export type ShellJob = Readonly<{
  argv: readonly [program: string, ...rest: string[]];
  env: Readonly<Record<string, string>>;
  /** See `SandboxRequest`. */
  secrets: readonly Secret[];
  timeoutMs: number;
  outputCap: number;
  /** Bytes that it may write to each folder: what is missing there to the limit. */
  room: Readonly<{ scratch: number; chat: number }>;
  /** Its scripts have `skillet-cap`, which is asked for by `ShellRequest`. */
  cap: boolean;
}>;

/** A script wants `skillet-cap` carried out; the host says what it came to under the same number. */
export type ShellRequest = Readonly<{
  status: 'asks';
  number: number;
  words: readonly string[];
  input: string;
}>;
export type ShellNotice = Readonly<{ told: number; answer: CapAnswer }>;

/** What a cell says. `missing`: it has no such program. */
export type ShellAnswer =
  | Readonly<{ status: 'ready' }>
  | Readonly<{ status: 'missing'; program: string }>
  | Exclude<SandboxOutcome, { status: 'unavailable' }>;

/** A process with a bash in memory, for one skill and one scratch folder. */
export type ShellWorker = Readonly<{
  /** One job at a time. Ends the cell when the signal is aborted or the time is up. */
  run(
    job: Omit<ShellJob, 'cap'> & Readonly<{ cap?: ServeCap }>,
    signal: AbortSignal,
  ): Promise<Exclude<ShellAnswer, { status: 'ready' }>>;
  /** Whether it can take another job. */
  alive(): boolean;
  /** Ends the process; resolves when it is gone. */
  end(): Promise<void>;
}>;

/** Milliseconds the shell gets to end by itself when the time of a job is up. */
const grace = 1_000;
/** Milliseconds a cell may take to start. */
const startLimit = 30_000;
/** Milliseconds that a shell counts by itself while the host counts, too. */
const longestMs = 86_400_000;

/**
 * Starts a cell: a Node process that may read the library and its folders, write all but the skill's, and start nothing
 * (Node's permission model), without the host's environment; inside it, a worker thread with the shell.
 * `library` is the `node_modules` folder that holds just-bash.
 */
export function startShellWorker(setup: ShellSetup, library: string): ShellWorker {
  const extension = import.meta.filename.endsWith('.ts') ? '.ts' : '.js';
  const source = path.join(import.meta.dirname, '../..');
  const code = ['sandbox', 'lib'].map((room) => path.join(source, room));
  const readable = [library, ...code, ...(setup.skill === undefined ? [] : [setup.skill])];
  const writable = [setup.scratch, ...(setup.chat === undefined ? [] : [setup.chat])];
  const child = fork(`${import.meta.dirname}/shell-worker-process${extension}`, [JSON.stringify(setup)], {
    env: {},
    execArgv: [
      '--permission',
      '--allow-worker',
      '--no-warnings',
      ...[...readable, ...writable].map((folder) => `--allow-fs-read=${folder}/*`),
      ...writable.map((folder) => `--allow-fs-write=${folder}/*`),
    ],
    // A session of its own: Ctrl-C in the bot's terminal is the bot's business.
    detached: true,
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
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
    const { argv, env, secrets, timeoutMs, outputCap, room } = job;
    const deadline = createDeadline(systemClock);
    const { cap } = pausing(job.cap, deadline);
    const stopServing = cap === undefined ? () => undefined : serveCap(child, cap, signal);
    // Where its time may stand still the shell can't know when it is up.
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

/** The next thing it says that is an answer. */
function nextAnswer(child: ChildProcess): Promise<ShellAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ShellAnswer>();
  const listen = (message: unknown): void => {
    if ((message as ShellRequest | ShellAnswer).status !== 'asks') resolve(message as ShellAnswer);
  };
  child.on('message', listen).once('error', reject);
  return promise.finally(() => child.off('message', listen).off('error', reject));
}

/** Carries out what its scripts ask for, until it is called. */
function serveCap(child: ChildProcess, serve: ServeCap, signal: AbortSignal): () => void {
  const over = new AbortController();
  const listen = (message: unknown): void => {
    const asks = message as ShellRequest | ShellAnswer;
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

/** An idle cell does not keep the bot's process alive. */
function keepAwake(child: ChildProcess, awake: boolean): void {
  if (awake) child.ref();
  else child.unref();
  if (awake) child.channel?.ref();
  else child.channel?.unref();
}

/** V8 aborts where memory runs out in the middle of an operation; the system's own guard kills. */
function diedOfHunger(signal: unknown): boolean {
  return signal === 'SIGABRT' || signal === 'SIGKILL';
}

function stopped(
  reason: Extract<SandboxOutcome, { status: 'stopped' }>['reason'],
  stderr = '',
): Extract<SandboxOutcome, { status: 'stopped' }> {
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
  const stop = (): void => resolve(aborted);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    return await Promise.race([promise, over]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

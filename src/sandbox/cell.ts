import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { SandboxOutcome } from './sandbox.ts';

/** What a cell is made for; it is never used for anything else. Folders are real paths of the host. */
export type CellSetup = Readonly<{
  skill?: string;
  scratch: string;
  chat?: string;
  memoryMb: number;
}>;

export type CellJob = Readonly<{
  argv: readonly [program: string, ...rest: string[]];
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  outputCap: number;
  /** Bytes that it may write to each folder: what is missing there to the limit. */
  room: Readonly<{ scratch: number; chat: number }>;
}>;

/** What a cell says. `missing`: it has no such program. */
export type CellAnswer =
  | Readonly<{ status: 'ready' }>
  | Readonly<{ status: 'missing'; program: string }>
  | Exclude<SandboxOutcome, { status: 'unavailable' }>;

/** A process with a bash in memory, for one skill and one scratch folder. */
export type Cell = Readonly<{
  /** One job at a time. Ends the cell when the signal is aborted or the time is up. */
  run(job: CellJob, signal: AbortSignal): Promise<Exclude<CellAnswer, { status: 'ready' }>>;
  /** Whether it can take another job. */
  alive(): boolean;
  /** Ends the process; resolves when it is gone. */
  end(): Promise<void>;
}>;

/** Milliseconds the shell gets to end by itself when the time of a job is up. */
const grace = 1_000;
/** Milliseconds a cell may take to start. */
const startLimit = 30_000;

/**
 * Starts a cell: a Node process that may read the library and its folders, write all but the skill's, and start nothing
 * (Node's permission model), without the host's environment; inside it, a worker thread with the shell.
 * `library` is the `node_modules` folder that holds just-bash.
 */
export function startCell(setup: CellSetup, library: string): Cell {
  const extension = import.meta.filename.endsWith('.ts') ? '.ts' : '.js';
  const readable = [library, import.meta.dirname, ...(setup.skill === undefined ? [] : [setup.skill])];
  const writable = [setup.scratch, ...(setup.chat === undefined ? [] : [setup.chat])];
  const child = fork(`${import.meta.dirname}/cell-process${extension}`, [JSON.stringify(setup)], {
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
  const heard = (): Promise<CellAnswer> =>
    Promise.race([once(child, 'message').then(([message]: unknown[]) => message as CellAnswer), gone]);
  const ready = heard();

  const end = async (): Promise<void> => {
    keepAwake(child, true);
    child.kill('SIGKILL');
    await gone;
  };

  const ask = async (job: CellJob): Promise<CellAnswer> => {
    const first = await within(startLimit, ready, stopped('crashed', 'it did not start'));
    if (first.status !== 'ready') return first;
    const { argv, env, timeoutMs, outputCap, room } = job;
    child.send({ argv, env, timeoutMs, outputCap, room });
    return within(job.timeoutMs + grace, heard(), stopped('timeout'));
  };

  return {
    async run(job, signal) {
      keepAwake(child, true);
      const answer = await unlessAborted(ask(job), signal, stopped('cancelled'));
      if (answer.status === 'ready') throw new Error('a cell said twice that it is ready');
      if (answer.status === 'stopped') await end();
      keepAwake(child, false);
      return answer;
    },
    alive: () => child.connected,
    end,
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

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import { collectOutput } from './cap-output.ts';
import { measureProcesses } from './measure-processes.ts';
import type { Pipe, Pipes } from './pipes.ts';
import type { SandboxLimits, SandboxOutcome, SandboxRequest, StopReason } from './sandbox.ts';
import { watchLimits } from './watch-limits.ts';

/** A program of the host and how it is started; `files` are open ones that it gets from descriptor 3 on. */
export type HostCommand = Readonly<{
  argv: readonly [program: string, ...rest: string[]];
  env: Readonly<Record<string, string>>;
  cwd?: string;
  files?: readonly number[];
}>;

export type Ran = Exclude<SandboxOutcome, { status: 'unavailable' }>;

/** Bytes that a command may print. */
const mostOutput = 32 * 1024 * 1024;
/** Milliseconds that output is waited for after the command is gone: only who left its process group could still write. */
const lastWords = 200;

/**
 * Runs a program of the host with the limits of a request (R5, T9): it and all its processes end when its time is up,
 * when the call is cancelled, when together they use more than `limits`, and when the program itself ends.
 * `onKill` is told before they are killed. Throws where the program can't be started.
 */
export async function runLimited(
  command: HostCommand,
  request: SandboxRequest,
  { limits, pipes, onKill }: { limits: SandboxLimits; pipes: Pipes; onKill?: () => void },
): Promise<Ran> {
  const { signal, timeoutMs, outputCap, scratch, chat } = request;
  const streams = await Promise.all([pipes.take(), pipes.take()]);
  const [program, ...args] = command.argv;
  const child = signal.aborted
    ? undefined
    : spawn(program, args, {
        env: command.env,
        ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
        // A process group of its own, which is killed as one.
        detached: true,
        stdio: ['ignore', ...streams.map(({ write }) => write), ...(command.files ?? [])],
      });
  for (const { write } of streams) closeSync(write);
  const collected = streams.map(() => collectOutput(outputCap));
  let reason: StopReason | undefined;
  let printed = 0;
  const stop = (why: StopReason): void => {
    if (reason !== undefined) return;
    reason = why;
    onKill?.();
    if (child?.pid !== undefined) killAll(child.pid);
  };
  const heard = streams.map(({ read }, index) => {
    read.on('data', (bytes: Buffer) => {
      printed += bytes.length;
      if (printed > mostOutput) stop('output');
      else collected[index]?.add(bytes);
    });
    return once(read, 'close');
  });
  const output = (): Readonly<{ stdout: string; stderr: string; truncated: boolean }> => {
    const [out, err] = collected.map(({ end }) => end());
    return {
      stdout: out?.text ?? '',
      stderr: err?.text ?? '',
      truncated: out?.truncated === true || err?.truncated === true,
    };
  };

  if (child === undefined) {
    await finish(streams, heard);
    return { status: 'stopped', reason: 'cancelled', ...output() };
  }
  const timer = setTimeout(stop, timeoutMs, 'timeout');
  const onAbort = (): void => stop('cancelled');
  signal.addEventListener('abort', onAbort);
  const watch =
    child.pid === undefined
      ? undefined
      : watchLimits({ root: child.pid, scratch, chat, limits, onOver: stop });
  try {
    const [code, died] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    // What it left behind in its group ends with it.
    if (child.pid !== undefined) killGroup(child.pid);
    const exitCode = code ?? 128 + (died === null ? 0 : constants.signals[died]);
    await finish(streams, heard);
    return reason === undefined
      ? { status: 'exited', exitCode, ...output() }
      : { status: 'stopped', reason, ...output() };
  } finally {
    watch?.stop();
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    for (const { read } of streams) read.destroy();
  }
}

/** Waits until nobody can write any more; a pipe that somebody holds on to is not used again. */
async function finish(streams: readonly Pipe[], heard: readonly Promise<unknown>[]): Promise<void> {
  const late = setTimeout(() => {
    for (const { read } of streams) read.destroy();
  }, lastWords);
  await Promise.all(heard);
  clearTimeout(late);
  for (const { read, giveBack } of streams) if (read.readableEnded) giveBack();
}

/** Kills the group of a process, and all that descend from it and left the group. */
function killAll(pid: number): void {
  const { ids } = measureProcesses(pid, 10_000);
  killGroup(pid);
  for (const id of ids) kill(id);
}

function killGroup(pid: number): void {
  kill(-pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It is gone, or changed its user: whoever may do that is not ours to end.
    if (!(error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM')))
      throw error;
  }
}

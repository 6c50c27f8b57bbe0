import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { systemClock } from '../../lib/clock.ts';
import { createDeadline, type Deadline } from '../../lib/async/deadline.ts';
import { createRedaction } from '../../lib/redaction/redact.ts';
import { collectOutput } from './cap-output.ts';
import type { Handshake, Talk, CoveredDescriptors, Pipe, Pipes } from '../bubblewrap/handshake.ts';
import { killOne } from '../../lib/processes/kill-processes.ts';
import { measureFolder, trimFolder } from './measure-disk.ts';
import type { SandboxLimits, SandboxOutcome, SandboxRequest, StopReason } from '../sandbox.ts';
import { watchLimits } from './watch-limits.ts';

/** The descriptor that the first of a command's files gets. */
export const firstFile = 4;

/** A program of the host and how it is started; `files` are open ones that it gets from `firstFile` on. */
export type HostCommand = Readonly<{
  argv: readonly [program: string, ...rest: string[]];
  env: Readonly<Record<string, string>>;
  cwd?: string;
  files?: readonly number[];
}>;

export type Ran = Exclude<SandboxOutcome, { status: 'unavailable' }>;

export type HostRun = Readonly<{
  limits: SandboxLimits;
  pipes: Pipes;
  /** Descriptors that it must not have, and what it gets in their place. */
  covered: CoveredDescriptors;
  /** Without one the command begins with the program. */
  handshake?: Handshake;
  /** Counts the command's time, and may stand still meanwhile. */
  deadline?: Deadline;
  /** Which limit the kernel enforced. */
  met?: () => StopReason | undefined;
  /** Ends the program, whose id is given, and all its processes. */
  kill(pid: number): void;
}>;

/** Exit codes of what met the limits of a single process, as a shell tells them on: SIGXCPU and SIGXFSZ. */
const bySignal: ReadonlyMap<number, StopReason> = new Map([
  [152, 'cpu'],
  [153, 'disk'],
]);
/** Bytes that a command may print. */
const mostOutput = 32 * 1024 * 1024;
/** Milliseconds that output is waited for after the command is gone: only who left its process group could still write. */
const lastWords = 200;

/**
 * Runs a program of the host with the limits of a request (R5, T9): it and all its processes end when its time is up,
 * when the call is cancelled, when together they use more than `limits`, and when the program itself ends. What it leaves
 * in the conversation's folder over the limit is removed, the newest first (T10).
 * Throws where the program can't be started.
 */
export async function runLimited(
  command: HostCommand,
  request: SandboxRequest,
  { limits, pipes, covered, kill, handshake, met: enforced, deadline = createDeadline(systemClock) }: HostRun,
): Promise<Ran> {
  const { signal, timeoutMs, outputCap, scratch, chat } = request;
  const { textInParts } = createRedaction(request.secrets ?? []);
  const most = (): Promise<number> => (chat === undefined ? Promise.resolve(0) : mostIn(chat, limits));
  // What the folder holds before: nothing of the command may be in it. With a handshake the command waits for that.
  const before = handshake === undefined ? await most() : undefined;
  const streams = await Promise.all([pipes.take(), pipes.take()]);
  const [program, ...args] = command.argv;
  let child: ChildProcess | undefined;
  try {
    if (!signal.aborted)
      child = spawn(program, args, {
        env: command.env,
        cwd: command.cwd,
        // A process group of its own, which is killed as one.
        detached: true,
        stdio: descriptors(
          [
            handshake?.descriptor === 0 ? 'pipe' : null,
            ...streams.map(({ write }) => write),
            handshake?.descriptor === 3 ? 'pipe' : null,
            ...(command.files ?? []),
          ],
          covered,
        ),
      });
  } catch (error) {
    for (const { read } of streams) read.destroy();
    throw error;
  } finally {
    for (const { write } of streams) closeSync(write);
  }
  const collected = streams.map(() => collectOutput(outputCap, textInParts()));
  let reason: StopReason | undefined;
  let printed = 0;
  let ended = false;
  let talk: Talk | undefined;
  let watch: ReturnType<typeof watchLimits> | undefined;
  const stop = (why: StopReason): void => {
    if (reason !== undefined) return;
    reason = why;
    talk?.end();
    if (child?.pid !== undefined) kill(child.pid);
  };
  const heard = streams.map(({ read }, index) => {
    read.on('data', (bytes: Buffer) => {
      printed += bytes.length;
      if (printed > mostOutput) stop('output');
      else collected[index]?.add(index === 1 && talk !== undefined ? talk.heard(bytes) : bytes);
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
  const mostInChat = before === undefined ? most() : Promise.resolve(before);
  // The bot is to answer whatever commands do to the processor.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  const begin = (root: number): void => {
    if (!ended)
      watch ??= watchLimits({ root, scratch, chat, mostInChat, limits, met: enforced, onOver: stop });
  };
  if (handshake !== undefined)
    talk = handshake.begin(child, { ready: mostInChat, watch: begin, fail: () => stop('crashed') });
  else if (child.pid !== undefined) begin(child.pid);
  deadline.start(timeoutMs);
  deadline.signal.addEventListener('abort', () => stop('timeout'), { once: true });
  const onAbort = (): void => stop('cancelled');
  signal.addEventListener('abort', onAbort);
  try {
    const [code, died] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    // What it left behind in its group ends with it.
    if (child.pid !== undefined) killOne(-child.pid);
    const exitCode = code ?? 128 + (died === null ? 0 : constants.signals[died]);
    await finish(streams, heard);
    const overfull = chat !== undefined && (await cutBack(chat, await mostInChat));
    const met = reason ?? enforced?.() ?? bySignal.get(exitCode) ?? (overfull ? 'disk' : undefined);
    return met === undefined
      ? { status: 'exited', exitCode, ...output() }
      : { status: 'stopped', reason: met, ...output() };
  } finally {
    ended = true;
    watch?.stop();
    talk?.end();
    deadline.end();
    signal.removeEventListener('abort', onAbort);
    for (const { read } of streams) read.destroy();
  }
}

/** What a conversation's folder may hold: it stays for good, and so may what it held before. */
export async function mostIn(chat: string, { diskMb }: SandboxLimits): Promise<number> {
  return Math.max(diskMb * 1024 * 1024, await measureFolder(chat));
}

/** Takes away what a command left in the folder over that, written faster than anybody looks: else it would grow from command to command. */
async function cutBack(chat: string, most: number): Promise<boolean> {
  const excess = (await measureFolder(chat)) - most;
  if (!(excess > 0)) return false;
  if (Number.isFinite(excess)) await trimFolder(chat, excess);
  return true;
}

/** What a program gets as its descriptors, by number. */
export function descriptors<Given extends number | 'pipe' | 'inherit' | null>(
  given: readonly Given[],
  { numbers, file }: CoveredDescriptors,
): (NonNullable<Given> | number | 'ignore')[] {
  const all = Array.from({ length: Math.max(given.length, ...numbers.map((fd) => fd + 1)) }, () => 'ignore');
  return all.map((_, fd) => given[fd] ?? (numbers.includes(fd) ? file : 'ignore'));
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

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { systemClock } from '../../lib/clock.ts';
import { createDeadline, type Deadline } from '../../lib/async/deadline.ts';
import { createRedaction } from '../../lib/redaction/redact.ts';
import { collectOutput } from './cap-output.ts';
import {
  createPipes,
  descriptors,
  inheritedDescriptors,
  type CoveredDescriptors,
  type Handshake,
  type Pipe,
  type Pipes,
  type Talk,
} from './handshake.ts';
import { OperatorError } from '../../core/errors.ts';
import { killOne } from '../../lib/processes/kill-processes.ts';
import { measureFolder, roomIn, trimFolder, type Room } from './measure-disk.ts';
import type {
  SandboxLimits,
  SandboxOutcome,
  SandboxRequest,
  ShellEnd,
  ShellRequest,
  StopReason,
} from '../sandbox.ts';
import { watchLimits } from './watch-limits.ts';
import { onAbort } from '../../lib/async/on-abort.ts';

export const firstFile = 4;

export type HostCommand = Readonly<{
  argv: readonly [program: string, ...rest: string[]];
  env: Readonly<Record<string, string>>;
  cwd?: string;
  /** Open descriptors that it gets, from `firstFile` on. */
  files?: readonly number[];
}>;

export type Ran = Exclude<SandboxOutcome, { status: 'unavailable' }>;

export type Runner = Readonly<{
  pipes: Pipes;
  covered: CoveredDescriptors;
  ending: AbortSignal;
  track<Result>(work: Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}>;

export function createRunner(): Runner {
  const pipes = createPipes();
  const covered = inheritedDescriptors();
  const ending = new AbortController();
  const running = new Set<Promise<unknown>>();
  return {
    pipes,
    covered,
    ending: ending.signal,
    track(work) {
      running.add(work);
      return work.finally(() => running.delete(work));
    },
    async close() {
      ending.abort();
      await Promise.allSettled(running);
      pipes.close();
      covered.close();
    },
  };
}

type HostRun = Readonly<{
  limits: SandboxLimits;
  runner: Runner;
  /** Without a handshake the command begins at once, and a shell is not watched. */
  handshake?: Handshake;
  deadline?: Deadline;
  met?: () => StopReason | undefined;
  kill(pid: number): void;
}>;

/** Exit codes of shells for SIGXCPU and SIGXFSZ. */
const bySignal: ReadonlyMap<number, StopReason> = new Map([
  [152, 'cpu'],
  [153, 'disk'],
]);
const mostOutput = 32 * 1024 * 1024;
/** In milliseconds. Only a process outside of the group could still write. */
const lastWords = 200;

/**
 * Runs a host program (R5, T9). It ends with all its processes on a timeout, on cancellation, at a limit in `limits`,
 * or when it exits. Files over the limit are removed from the conversation's folder, the newest first (T10). Throws if
 * the program can't start, and an OperatorError if its limits can't be watched.
 */
export async function runLimited(
  command: HostCommand,
  request: SandboxRequest,
  { limits, runner, kill, handshake, met: enforced, deadline = createDeadline(systemClock) }: HostRun,
): Promise<Ran> {
  const { timeoutMs, outputCap, scratch, chat } = request;
  const { pipes, covered } = runner;
  const signal = AbortSignal.any([request.signal, runner.ending]);
  const { textInParts } = createRedaction(request.secrets ?? []);
  const most = (): Promise<Room | undefined> => roomInChat(chat, limits);
  // Measured before the command writes. With a handshake the command waits.
  const before = handshake === undefined ? await most() : undefined;
  const streams = await Promise.all([pipes.take(), pipes.take()]);
  const [program, ...args] = command.argv;
  let child: ChildProcess | undefined;
  try {
    if (!signal.aborted)
      child = spawn(program, args, {
        env: command.env,
        cwd: command.cwd,
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
  let refusal: OperatorError | undefined;
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
  const room = handshake === undefined ? Promise.resolve(before) : most();
  // The bot has to answer whatever commands do to the processor.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  const begin = (root: number): void => {
    if (!ended) watch ??= watchLimits({ root, scratch, chat, room, limits, met: enforced, onOver: stop });
  };
  if (handshake !== undefined)
    talk = handshake.begin(child, {
      ready: room,
      watch: begin,
      fail(error) {
        if (error instanceof OperatorError && reason === undefined) refusal = error;
        stop('crashed');
      },
    });
  else if (child.pid !== undefined) begin(child.pid);
  deadline.start(timeoutMs);
  onAbort(deadline.signal, () => stop('timeout'));
  const stopListening = onAbort(signal, () => stop('cancelled'));
  try {
    const [code, died] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    // Also ends what the command left in its group.
    if (child.pid !== undefined) killOne(-child.pid);
    const exitCode = code ?? 128 + (died === null ? 0 : constants.signals[died]);
    await finish(streams, heard);
    if (refusal !== undefined) throw refusal;
    const overfull = chat !== undefined && (await cutBack(chat, await room));
    const met = reason ?? enforced?.() ?? bySignal.get(exitCode) ?? (overfull ? 'disk' : undefined);
    return met === undefined
      ? { status: 'exited', exitCode, ...output() }
      : { status: 'stopped', reason: met, ...output() };
  } finally {
    ended = true;
    watch?.stop();
    talk?.end();
    deadline.end();
    stopListening();
    for (const { read } of streams) read.destroy();
  }
}

async function roomInChat(chat: string | undefined, { diskMb }: SandboxLimits): Promise<Room | undefined> {
  return chat === undefined ? undefined : roomIn(chat, diskMb * 1024 * 1024);
}

/** Removes what is over the limit, because the folder could otherwise grow with each command. True if something was. */
async function cutBack(chat: string, room: Room | undefined): Promise<boolean> {
  const excess = (await measureFolder(chat)) - (room?.bytes ?? Infinity);
  if (!(excess > 0) || (await room?.wasUsed()) === false) return false;
  if (Number.isFinite(excess)) await trimFolder(chat, excess);
  return true;
}

/** Waits for all writers. A pipe that is still held open is not reused. */
async function finish(streams: readonly Pipe[], heard: readonly Promise<unknown>[]): Promise<void> {
  const late = setTimeout(() => {
    for (const { read } of streams) read.destroy();
  }, lastWords);
  await Promise.all(heard);
  clearTimeout(late);
  for (const { read, giveBack } of streams) if (read.readableEnded) giveBack();
}

export const secondsForPerson = 86_400;

/**
 * Runs a program for a person at this terminal (R6), without limits of time and output. Keys don't end this process.
 * Throws if the program can't start.
 */
export async function runOnTerminal(
  command: HostCommand,
  { scratch, chat, signal: cancelled }: ShellRequest,
  { limits, runner, handshake, met, kill }: Omit<HostRun, 'deadline'>,
): Promise<ShellEnd> {
  const signal = AbortSignal.any([cancelled, runner.ending]);
  const [program, ...args] = command.argv;
  const room = roomInChat(chat, limits);
  let reason: StopReason | undefined;
  let watch: ReturnType<typeof watchLimits> | undefined;
  const child = spawn(program, args, {
    env: command.env,
    stdio: descriptors(
      ['inherit', 'inherit', 'inherit', handshake === undefined ? null : 'pipe', ...(command.files ?? [])],
      runner.covered,
    ),
  });
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const stop = (why: StopReason): void => {
    reason ??= why;
    if (child.pid !== undefined) kill(child.pid);
  };
  const notOurs = (): void => undefined;
  for (const key of keys) process.on(key, notOurs);
  const talk = handshake?.begin(child, {
    ready: room,
    watch: (root) => (watch = watchLimits({ root, scratch, chat, room, limits, met, onOver: stop })),
    fail: () => stop('crashed'),
  });
  const stopListening = onAbort(signal, () => stop('cancelled'));
  try {
    const [code, died] = await ended;
    reason ??= met?.();
    if (reason !== undefined) return { status: 'stopped', reason };
    return { status: 'exited', exitCode: code ?? 128 + (died === null ? 0 : constants.signals[died]) };
  } finally {
    watch?.stop();
    talk?.end();
    stopListening();
    for (const key of keys) process.off(key, notOurs);
  }
}

/** Signals that keys send to the whole foreground group. */
const keys = ['SIGINT', 'SIGQUIT'] as const;

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Handshake, CoveredDescriptors } from './bubblewrap/handshake.ts';
import { descriptors, mostIn, type HostCommand } from './limits/run-limited.ts';
import type { SandboxLimits, ShellEnd, ShellRequest, StopReason } from './sandbox.ts';
import { watchLimits } from './limits/watch-limits.ts';

/** Processor seconds for a person, who sees what takes long. */
export const secondsForPerson = 86_400;

/**
 * Runs a program of the host on this process's own terminal, for a person (R6): without limits of time and output, with
 * those of what is used. Its keys are its own: they end nothing of this process. Throws where it can't be started.
 */
export async function runOnTerminal(
  command: HostCommand,
  { scratch, chat, signal }: ShellRequest,
  options: Readonly<{
    limits: SandboxLimits;
    covered: CoveredDescriptors;
    /** Without one nothing is watched. */
    handshake?: Handshake;
    /** Which limit the kernel enforced. */
    met?: () => StopReason | undefined;
    kill(pid: number): void;
  }>,
): Promise<ShellEnd> {
  const { limits, covered, handshake, met, kill } = options;
  const [program, ...args] = command.argv;
  const mostInChat = chat === undefined ? Promise.resolve(0) : mostIn(chat, limits);
  let reason: StopReason | undefined;
  let watch: ReturnType<typeof watchLimits> | undefined;
  const child = spawn(program, args, {
    env: command.env,
    stdio: descriptors(
      ['inherit', 'inherit', 'inherit', handshake === undefined ? null : 'pipe', ...(command.files ?? [])],
      covered,
    ),
  });
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const stop = (why: StopReason): void => {
    reason ??= why;
    if (child.pid !== undefined) kill(child.pid);
  };
  const onAbort = (): void => stop('cancelled');
  signal.addEventListener('abort', onAbort);
  const notOurs = (): void => undefined;
  for (const key of keys) process.on(key, notOurs);
  const talk = handshake?.begin(child, {
    ready: mostInChat,
    watch: (root) => (watch = watchLimits({ root, scratch, chat, mostInChat, limits, met, onOver: stop })),
    fail: () => stop('crashed'),
  });
  try {
    if (signal.aborted) onAbort();
    const [code, died] = await ended;
    reason ??= met?.();
    if (reason !== undefined) return { status: 'stopped', reason };
    return { status: 'exited', exitCode: code ?? 128 + (died === null ? 0 : constants.signals[died]) };
  } finally {
    watch?.stop();
    talk?.end();
    signal.removeEventListener('abort', onAbort);
    for (const key of keys) process.off(key, notOurs);
  }
}

/** What the keys of a terminal send to all who are in its foreground. */
const keys = ['SIGINT', 'SIGQUIT'] as const;

import { spawn } from 'node:child_process';
import { deserializeMessage, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { systemClock } from '../../core/clock.ts';
import { OperatorError } from '../../core/errors.ts';
import { waitWithin } from '../../core/wait-within.ts';
import { splitLines } from './split-lines.ts';

/** How a server's process is started. */
export type ServerProcess = Readonly<{
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** Takes secrets out of what it writes to standard error. */
  redact(text: string): string;
}>;

/** Bytes of one message; a server that sends more is ended. */
const messageLimit = 10 * 1024 * 1024;
/** How long a process has to end by itself, and then after a signal that it can catch. */
const graceMs = 1_000;

/**
 * A server of tools as a process group of its own, which ends with the connection, and with this process (X7). It gets the
 * environment it is given and nothing else. `lastWords` is the end of what it wrote to standard error.
 */
export function processTransport(of: ServerProcess): Transport & Readonly<{ lastWords(): string }> {
  const split = splitLines(messageLimit);
  const gone = Promise.withResolvers<void>();
  let child: ReturnType<typeof launch> | undefined;
  let complaint = '';
  const kill = (signal: NodeJS.Signals): void => killGroup(child?.pid, signal);
  const killHard = (): void => kill('SIGKILL');

  function launch() {
    return spawn(of.command, [...of.args], {
      env: { ...of.env },
      cwd: of.cwd,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  function take(chunk: Buffer): void {
    for (const line of linesOf(chunk)) {
      try {
        transport.onmessage?.(deserializeMessage(line));
      } catch (error) {
        // A line that is no message: some servers print greetings.
        transport.onerror?.(error as Error);
      }
    }
  }

  function linesOf(chunk: Buffer): readonly string[] {
    try {
      return split(chunk);
    } catch (error) {
      // Nothing that follows could be told apart.
      transport.onerror?.(error as Error);
      killHard();
      return [];
    }
  }

  const transport: Transport & { lastWords(): string } = {
    lastWords: () => complaint,
    async start() {
      const begun = Promise.withResolvers<void>();
      child = launch();
      process.once('exit', killHard);
      child.once('spawn', begun.resolve);
      child.once('error', (error) => {
        begun.reject(new OperatorError(`${of.command} can't be started: ${error.message}`, { cause: error }));
        gone.resolve();
      });
      // What it started is ended with it.
      child.once('exit', killHard);
      child.once('close', () => {
        process.removeListener('exit', killHard);
        gone.resolve();
        transport.onclose?.();
      });
      child.stdout.on('data', take);
      child.stderr.on('data', (chunk: Buffer) => {
        // Before the cut: half a secret is none that could be found.
        complaint = of.redact(complaint + chunk.toString('utf8')).slice(-2_000);
      });
      // It is gone then, which is told by its end.
      for (const stream of [child.stdin, child.stdout, child.stderr])
        stream.on('error', (error) => transport.onerror?.(error));
      await begun.promise;
    },
    async send(message) {
      const stdin = child?.stdin;
      if (stdin === undefined || !stdin.writable) throw new Error('the server has ended');
      await new Promise<void>((resolve, reject) => {
        stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
      });
    },
    async close() {
      if (child === undefined) return;
      child.stdin.end();
      await waitWithin(systemClock, gone.promise, graceMs);
      if (child.exitCode === null && child.signalCode === null) kill('SIGTERM');
      await waitWithin(systemClock, gone.promise, graceMs);
      killHard();
    },
  };
  return transport;
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // Gone already.
    if (!(error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM')))
      throw error;
  }
}

import { spawn } from 'node:child_process';
import { deserializeMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import { OperatorError } from '../../core/errors.ts';
import { raceTimeout } from '../../lib/async/deadline.ts';
import { systemClock } from '../../lib/clock.ts';
import { createCountValues, tooManyValues, valuesLimit } from '../../lib/json/json-values.ts';
import type { EndWithUs } from '../../lib/processes/end-with-us.ts';
import { createFlowMeter } from './limited-fetch.ts';

type ServerProcess = Readonly<{
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  redact(text: string): string;
  onTooMuch(why: string): void;
  endWithUs: EndWithUs;
}>;

/** How many bytes a message may have. More ends the server. */
const messageLimit = 10 * 1024 * 1024;
/** How many bytes of standard error are kept, and how many characters of them are shown. */
const complaintLimit = 16_384;
const shownLimit = 2_000;
/** Milliseconds to wait before SIGTERM, and again before SIGKILL. */
const graceMs = 1_000;

type ProcessTransport = Transport &
  Readonly<{
    lastWords(): string;
    /** Whether the process ended by itself. */
    hasEnded(): boolean;
    /** By these two members the SDK knows a process, whose silence means an older protocol. */
    stderr: null;
    pid: number | null;
  }>;

/**
 * Runs a server in a process group of its own, which ends with the connection or with the bot, even if the bot is
 * killed (X7). The server gets only the given environment. `lastWords` returns the end of its standard error.
 */
export function processTransport(of: ServerProcess): ProcessTransport {
  const split = splitLines(messageLimit);
  const flow = createFlowMeter(systemClock);
  const gone = Promise.withResolvers<void>();
  let child: ReturnType<typeof launch> | undefined;
  let forget = (): void => undefined;
  let complaint = Buffer.alloc(0);
  let over = false;
  let ended = false;
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

  function endFor(why: string): void {
    over = true;
    killHard();
    of.onTooMuch(why);
  }

  function take(chunk: Buffer): void {
    for (const line of linesOf(chunk)) {
      if (over) return;
      const values = createCountValues()(line);
      const tooMuch = values > valuesLimit ? tooManyValues : flow(1, line.length, values);
      if (tooMuch !== undefined) return endFor(tooMuch);
      try {
        transport.onmessage?.(deserializeMessage(line));
      } catch (error) {
        // Some servers print greetings: a line that is no message is only reported.
        transport.onerror?.(error as Error);
      }
    }
  }

  function linesOf(chunk: Buffer): readonly string[] {
    if (over) return [];
    try {
      return split(chunk);
    } catch (error) {
      // The beginning of the next message can't be found.
      endFor(`it sent ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  }

  function complain(chunk: Buffer): void {
    if (over) return;
    complaint = Buffer.concat([complaint, chunk]).subarray(-complaintLimit);
    const tooMuch = flow(0, chunk.length);
    if (tooMuch !== undefined) endFor(tooMuch);
  }

  const transport: ProcessTransport = {
    stderr: null,
    get pid() {
      return child?.pid ?? null;
    },
    hasEnded: () => ended,
    // Shown text begins far from the cut, because half a secret would not be found.
    lastWords: () => of.redact(complaint.toString('utf8')).slice(-shownLimit),
    async start() {
      const begun = Promise.withResolvers<void>();
      child = launch();
      if (child.pid !== undefined) forget = of.endWithUs(child.pid);
      child.once('spawn', begun.resolve);
      child.once('error', (error) => {
        forget();
        begun.reject(new OperatorError(`${of.command} can't be started: ${error.message}`, { cause: error }));
        gone.resolve();
      });
      child.once('exit', () => {
        ended = !over;
        killHard();
      });
      child.once('close', () => {
        forget();
        gone.resolve();
        transport.onclose?.();
      });
      child.stdout.on('data', take);
      child.stderr.on('data', complain);
      // The process has ended, and its end is reported separately.
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
      over = true;
      child.stdin.end();
      await raceTimeout(systemClock, gone.promise, graceMs);
      if (child.exitCode === null && child.signalCode === null) kill('SIGTERM');
      await raceTimeout(systemClock, gone.promise, graceMs);
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
    // The group has ended already.
    if (!(error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM')))
      throw error;
  }
}

/**
 * Splits chunks into whole lines without their ends, in linear time. Throws RangeError if a line has more than `limit`
 * bytes.
 */
export function splitLines(limit: number): (chunk: Buffer) => readonly string[] {
  let rest: Buffer[] = [];
  let size = 0;

  return (chunk) => {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      lines.push(Buffer.concat([...rest, chunk.subarray(from, end)]).toString('utf8'));
      rest = [];
      size = 0;
      from = end + 1;
    }
    rest.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > limit) throw new RangeError(`a message of more than ${limit} bytes`);
    return lines;
  };
}

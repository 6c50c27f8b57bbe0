import { execFile, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync, readdirSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { measureProcesses } from '../../lib/processes/measure-processes.ts';
import { OperatorError } from '../../core/errors.ts';
import { isWatchable, unwatchable } from './measurable.ts';
import type { CommandGroup } from './kernel-limits.ts';
import { hasCode } from '../../lib/has-code.ts';

const pathOnly = 0o10000000;
const closedOnExec = 0o2000000;

export type Handshake = Readonly<{
  descriptor: 0 | 3;
  begin(child: ChildProcess, beginning: Beginning): Talk;
}>;

type Beginning = Readonly<{
  ready: Promise<unknown>;
  /** Begins to watch. `root` is the ancestor of all the command's processes. */
  watch(root: number): void;
  /** Ends the command. An OperatorError tells why it can't run here. */
  fail(error: unknown): void;
}>;

export type Talk = Readonly<{
  heard(bytes: Buffer): Buffer;
  end(): void;
}>;

const mostWaiting = 10;

/** Exchanges a line each way on descriptor 3. `onStart` runs in between, when all processes are in the group. */
export function handshakeByDescriptor(onStart: () => void, group?: CommandGroup): Handshake {
  return {
    descriptor: 3,
    begin(child, { ready, watch, fail }) {
      const { pid } = child;
      if (pid !== undefined) watch(pid);
      // The first move takes milliseconds, while the program gets ready.
      const moved = pid === undefined ? undefined : group?.take(pid);
      const moveRest = async (): Promise<void> => {
        await Promise.all([ready, moved]);
        // All of them wait now, so what is not seen is hidden.
        if (pid !== undefined && !isWatchable(pid, 2)) throw new OperatorError(unwatchable);
        if (pid === undefined || group === undefined) return;
        for (const id of measureProcesses(pid, mostWaiting).ids) await group.take(id);
      };
      moved?.catch(fail);
      const line = child.stdio[3];
      if (line instanceof Socket) {
        line.on('error', () => line.destroy());
        line.once('data', () => {
          void moveRest().then(() => {
            onStart();
            line.end('\n');
          }, fail);
        });
      }
      return { heard: (bytes) => bytes, end: () => undefined };
    },
  };
}

/**
 * The program writes the line `word` to its error stream and waits for a line on its standard input, which stays open.
 */
export function handshakeByStreams(options: {
  word: string;
  onBefore(text: string): void;
  onStart(): Promise<number>;
}): Handshake {
  const { word, onBefore, onStart } = options;
  const line = Buffer.from(`${word}\n`);
  return {
    descriptor: 0,
    begin({ stdin }, { ready, watch, fail }) {
      let before: Buffer | undefined = Buffer.alloc(0);
      stdin?.on('error', () => stdin.destroy());
      const end = (): void => void stdin?.destroy();
      return {
        heard(bytes) {
          if (before === undefined) return bytes;
          before = Buffer.concat([before, bytes]);
          const at = before.indexOf(line);
          onBefore(before.subarray(0, at < 0 ? before.length : at).toString());
          if (at < 0) return Buffer.alloc(0);
          const rest = before.subarray(at + line.length);
          before = undefined;
          void Promise.all([onStart(), ready]).then(([root]) => {
            watch(root);
            if (stdin?.destroyed === false) stdin.write('\n');
          }, fail);
          return rest;
        },
        end,
      };
    },
  };
}

/** Descriptors to hide, and an open /dev/null to put in their place. */
export type CoveredDescriptors = Readonly<{ numbers: readonly number[]; file: number; close(): void }>;

/** Descriptors that this process inherited and would pass on. Linux only. */
export function inheritedDescriptors(): CoveredDescriptors {
  const numbers = readdirSync('/proc/self/fdinfo')
    .map(Number)
    .filter((fd) => fd > 2 && isHandedOn(fd));
  const file = openSync('/dev/null', 'r+');
  return { numbers, file, close: () => closeSync(file) };
}

function isHandedOn(fd: number): boolean {
  try {
    const [, flags = '0'] = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1')) ?? [];
    return (Number.parseInt(flags, 8) & closedOnExec) === 0;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

export function descriptors<Given extends number | 'pipe' | 'inherit' | null>(
  given: readonly Given[],
  { numbers, file }: CoveredDescriptors,
): (NonNullable<Given> | number | 'ignore')[] {
  const all = Array.from({ length: Math.max(given.length, ...numbers.map((fd) => fd + 1)) }, () => 'ignore');
  return all.map((_, fd) => given[fd] ?? (numbers.includes(fd) ? file : 'ignore'));
}

export type Pipe = Readonly<{
  read: Socket;
  write: number;
  /** Makes the pipe reusable, because all writers have closed it. */
  giveBack(): void;
}>;

export type Pipes = Readonly<{ take(): Promise<Pipe>; close(): void }>;

/** Makes real, reusable pipes, because scripts can't open `/dev/stderr` if it is one of Node's sockets. Linux only. */
export function createPipes(): Pipes {
  const kept: number[] = [];
  const free: number[] = [];

  return {
    async take() {
      const node = free.pop() ?? (await make());
      // In this order, because opening to write waits for a reader.
      const read = openSync(`/proc/self/fd/${node}`, constants.O_RDONLY | constants.O_NONBLOCK);
      const write = openSync(`/proc/self/fd/${node}`, constants.O_WRONLY);
      return {
        read: new Socket({ fd: read, readable: true, writable: false }),
        write,
        giveBack: () => free.push(node),
      };
    },
    close() {
      for (const node of kept.splice(0)) closeSync(node);
      free.length = 0;
    },
  };

  async function make(): Promise<number> {
    const folder = mkdtempSync(path.join(tmpdir(), 'skillet-pipe-'));
    try {
      const name = path.join(folder, 'pipe');
      await promisify(execFile)('mkfifo', ['-m', '600', name]);
      const node = openSync(name, pathOnly);
      kept.push(node);
      return node;
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
}

import { execFile, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync, readdirSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { measureProcesses } from '../../lib/processes/measure-processes.ts';
import type { CommandGroup } from './kernel-limits.ts';

const pathOnly = 0o10000000;
const closedOnExec = 0o2000000;

/** A program says that its command is about to begin, and waits for an answer. */
export type Handshake = Readonly<{
  /** The descriptor of the program that has to be a pipe. */
  descriptor: 0 | 3;
  begin(child: ChildProcess, beginning: Beginning): Talk;
}>;

type Beginning = Readonly<{
  /** It is not answered before. */
  ready: Promise<unknown>;
  /** Told the process that all of the command's descend from. */
  watch(root: number): void;
  fail(): void;
}>;

export type Talk = Readonly<{
  /** The part of the error stream that is the command's. */
  heard(bytes: Buffer): Buffer;
  end(): void;
}>;

/** Processes that a command has before it begins, and more. */
const mostWaiting = 10;

/** The program, which is watched, says a line on descriptor 3 and reads one there. `onStart` runs between, when all is in the group. */
export function handshakeByDescriptor(onStart: () => void, group?: Pick<CommandGroup, 'take'>): Handshake {
  return {
    descriptor: 3,
    begin(child, { ready, watch, fail }) {
      const { pid } = child;
      if (pid !== undefined) watch(pid);
      // The first move takes the kernel some milliseconds, in which the program gets ready.
      const moved = pid === undefined ? undefined : group?.take(pid);
      const moveRest = async (): Promise<void> => {
        await Promise.all([ready, moved]);
        if (pid === undefined || group === undefined) return;
        for (const id of measureProcesses(pid, mostWaiting).ids) await group.take(id);
      };
      moved?.catch(fail);
      const line = child.stdio[3];
      if (line instanceof Socket) {
        // Both ends may be gone at any time.
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
 * The program says `word` as a line of its error stream and reads a line on its standard input, which then stays open
 * while the command runs.
 */
export function handshakeByStreams(options: {
  word: string;
  /** Told what the error stream said before that. */
  onBefore(text: string): void;
  /** Finds the process to watch. */
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

/** Descriptors that programs must not get, and an open /dev/null to put in their place. */
export type CoveredDescriptors = Readonly<{ numbers: readonly number[]; file: number; close(): void }>;

/** Finds the descriptors that this process was started with and would hand on to every program it starts. Linux only. */
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
    // The one that the folder was read with.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

/** What a program gets as its descriptors, by number. */
export function descriptors<Given extends number | 'pipe' | 'inherit' | null>(
  given: readonly Given[],
  { numbers, file }: CoveredDescriptors,
): (NonNullable<Given> | number | 'ignore')[] {
  const all = Array.from({ length: Math.max(given.length, ...numbers.map((fd) => fd + 1)) }, () => 'ignore');
  return all.map((_, fd) => given[fd] ?? (numbers.includes(fd) ? file : 'ignore'));
}

/** One way from a process to this one. */
export type Pipe = Readonly<{
  read: Socket;
  /** Handed to the process and then closed here. */
  write: number;
  /** It may be used again: everybody who had it has closed it. */
  giveBack(): void;
}>;

export type Pipes = Readonly<{ take(): Promise<Pipe>; close(): void }>;

/**
 * Real pipes for the output of commands, used for one after another. Node itself makes sockets, which a script that
 * writes to `/dev/stderr` or `/dev/stdout` can't open. Linux only.
 */
export function createPipes(): Pipes {
  const kept: number[] = [];
  const free: number[] = [];

  return {
    async take() {
      const node = free.pop() ?? (await make());
      // In this order: who opens to write waits for a reader.
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

import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { CommandGroup } from '../command-groups.ts';
import { measureProcesses } from '../../lib/processes/measure-processes.ts';

/** How a program says that its command is about to begin, and is answered: until then it waits. */
export type Handshake = Readonly<{
  /** The descriptor of the program that has to be a pipe. */
  descriptor: 0 | 3;
  begin(child: ChildProcess, beginning: Beginning): Talk;
}>;

export type Beginning = Readonly<{
  /** It is not answered before. */
  ready: Promise<unknown>;
  /** Told the process that the command and all its processes descend from. */
  watch(root: number): void;
  /** Told where the command can't begin. */
  fail(): void;
}>;

export type Talk = Readonly<{
  /** What of the error stream is the command's. */
  heard(bytes: Buffer): Buffer;
  /** Nothing more is answered. */
  end(): void;
}>;

/** Processes that a command has before it begins, and more. */
const mostWaiting = 10;

/**
 * It says a line on descriptor 3 and reads one there; `onStart` is told between, when all is in the `group`. The program is
 * what is watched.
 */
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
 * It says `word` as a line of its error stream, whose beginning `onBefore` is told, and reads a line on its standard input,
 * which then stays open while the command runs. `onStart` gives the process to watch, which may take a while.
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

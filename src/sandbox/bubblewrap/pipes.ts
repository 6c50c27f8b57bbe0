import { execFile } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** One way from a process to this one. */
export type Pipe = Readonly<{
  read: Socket;
  /** Handed to the process and then closed here. */
  write: number;
  /** After the last word of all who had it: may be used again. Without it the pipe is closed. */
  giveBack(): void;
}>;

export type Pipes = Readonly<{ take(): Promise<Pipe>; close(): void }>;

const pathOnly = 0o10000000;

/**
 * Real pipes for the output of commands. What Node makes by itself are sockets, and a script that writes to
 * `/dev/stderr` or `/dev/stdout` cannot open those. A pipe is made by `mkfifo`, has no name afterwards, and is used for
 * one command after another. Linux only.
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

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { capPrograms, type CapAnswer, type ServeCap } from './sandbox.ts';

/** Lets commands in a sandbox call capabilities by `skillet-cap` (C4). */
export type CapabilitySocket = Readonly<{
  mounts: readonly Readonly<{ source: string; target: string }>[];
  /** The program's folder on the host, for sandboxes without mounts. */
  folder: string;
  /** Removes the names on the host once they are mounted. */
  started(): void;
  close(): Promise<void>;
}>;

const longestRequest = 300_000;
const mostRequests = 8;

const request = z.object({ words: z.array(z.string()).max(100), input: z.string() });

/**
 * Opens the socket. `node` is its path inside. `programs` is the folder for programs inside; undefined if the command
 * sees the host.
 */
export async function openCapabilitySocket(
  serve: ServeCap,
  { node, programs, beside = tmpdir() }: Readonly<{ node: string; programs?: string; beside?: string }>,
): Promise<CapabilitySocket> {
  const folder = mkdtempSync(path.join(beside, 'skillet-cap-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const open = new Map<Socket, AbortController>();
  const socketPath = path.join(folder, 'cap.sock');
  const typed = import.meta.filename.endsWith('.ts');
  const client = path.join(import.meta.dirname, typed ? 'cap-process.ts' : 'cap-process.js');
  const seen = {
    client: programs === undefined ? client : `/run/skillet/cap.${typed ? 'mts' : 'mjs'}`,
    socket: programs === undefined ? socketPath : '/run/skillet/cap.sock',
  };
  writePrograms(folder, { node, ...seen });
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const over = new AbortController();
    open.set(socket, over);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      open.delete(socket);
      over.abort();
    });
    void answer(socket, serve, over.signal);
  });
  server.maxConnections = mostRequests;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(socketPath, resolve);
    });
    chmodSync(socketPath, 0o600);
  } catch (error) {
    remove();
    throw error;
  }

  return {
    mounts:
      programs === undefined
        ? []
        : [
            { source: socketPath, target: seen.socket },
            { source: client, target: seen.client },
            ...capPrograms.map((name) => ({
              source: path.join(folder, name),
              target: `${programs}/${name}`,
            })),
          ],
    folder,
    started: remove,
    async close() {
      for (const [socket, over] of open) {
        over.abort();
        socket.destroy();
      }
      await new Promise((resolve) => server.close(resolve));
      remove();
    },
  };
}

/** Writes `skillet-cap` and its other names, which run the client. */
function writePrograms(
  folder: string,
  { node, client, socket }: Readonly<{ node: string; client: string; socket: string }>,
): void {
  const text = `#!/bin/sh\n[ "$1" = capability ] && shift\nexec '${node}' --no-warnings '${client}' '${socket}' "$@"\n`;
  for (const name of capPrograms) {
    writeFileSync(path.join(folder, name), text);
    chmodSync(path.join(folder, name), 0o755);
  }
}

async function answer(socket: Socket, serve: ServeCap, signal: AbortSignal): Promise<void> {
  try {
    const read = await readRequest(socket);
    const given = read === undefined ? refused : await serve(read.words, read.input, signal);
    socket.end(JSON.stringify(given));
  } catch (error) {
    // The client reports that there was no answer, and the server logs the cause.
    socket.destroy(error instanceof Error ? error : undefined);
  }
}

const refused: CapAnswer = {
  stdout: '',
  stderr: `skillet-cap: at most ${longestRequest} characters are taken\n`,
  exitCode: 2,
};

async function readRequest(socket: Socket): Promise<z.output<typeof request> | undefined> {
  let text = '';
  socket.setEncoding('utf8');
  for await (const chunk of socket) {
    text += chunk as string;
    if (text.length > longestRequest) return undefined;
  }
  return request.parse(JSON.parse(text));
}

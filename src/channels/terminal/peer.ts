import { closeSync, readFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import path from 'node:path';
import { z } from 'zod';
import { writeJsonLine } from './control.ts';
import { openInside } from '../../lib/files/open-inside.ts';
import { writeInside } from '../../lib/files/write-inside.ts';

const place = 'sent';

const mostNames = 100;

/** Answers by name. Their arguments are not checked yet. */
export type PeerAnswers = Readonly<Record<string, (argument: unknown) => Promise<unknown>>>;

/** A connection over which two programs ask each other. */
export type Peer = Readonly<{
  /** Asks the other side. Rejects with its error, or when the connection ends. */
  ask(what: string, argument?: unknown): Promise<unknown>;
  take(line: unknown): void;
  ended: Promise<void>;
}>;

const lineSchema = z.union([
  z.object({ ask: z.string(), id: z.number(), argument: z.unknown().optional() }),
  z.object({ answer: z.number(), ok: z.boolean(), data: z.unknown().optional() }),
]);

export function createPeer(socket: Socket, answers: PeerAnswers): Peer {
  const asked = new Map<number, PromiseWithResolvers<unknown>>();
  const ended = Promise.withResolvers<void>();
  const state = { last: 0, ended: false };

  socket.once('close', () => {
    state.ended = true;
    for (const { reject } of asked.values()) reject(new Error('the connection has ended'));
    asked.clear();
    ended.resolve();
  });

  async function answer(id: number, what: string, argument: unknown): Promise<void> {
    const reply = await (async () => answers[what]?.(argument))().then(
      (data) => ({ answer: id, ok: true, data }),
      (error: unknown) => ({
        answer: id,
        ok: false,
        data: error instanceof Error ? error.message : String(error),
      }),
    );
    writeJsonLine(socket, reply);
  }

  return {
    ended: ended.promise,
    async ask(what, argument) {
      if (state.ended) throw new Error('the connection has ended');
      const id = ++state.last;
      const reply = Promise.withResolvers<unknown>();
      asked.set(id, reply);
      writeJsonLine(socket, { ask: what, id, argument });
      return reply.promise;
    },
    take(line) {
      const read = lineSchema.parse(line);
      if ('ask' in read) return void answer(read.id, read.ask, read.argument);
      const reply = asked.get(read.answer);
      asked.delete(read.answer);
      if (read.ok) reply?.resolve(read.data);
      else reply?.reject(new Error(String(read.data)));
    },
  };
}

/**
 * Saves a file for a terminal and returns its path. The same bytes under one name are stored once; other bytes get a
 * number.
 */
export async function saveForTerminal(
  folder: string,
  file: Readonly<{ name: string; path: string }>,
): Promise<string> {
  const bytes = await readFile(file.path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { name, ext } = path.parse(file.name);
  for (let n = 1; n <= mostNames; n++) {
    const names = [place, n === 1 ? file.name : `${name} (${n})${ext}`];
    const there = openInside({ root: folder, names }, { alone: true });
    const same = there === undefined ? writeInside({ root: folder, names }, bytes) : holds(there, bytes);
    if (same) return path.join(folder, ...names);
  }
  throw new Error(`${path.join(folder, place)} takes no file called ${file.name}`);
}

function holds(descriptor: number, bytes: Buffer): boolean {
  try {
    return readFileSync(descriptor).equals(bytes);
  } finally {
    closeSync(descriptor);
  }
}

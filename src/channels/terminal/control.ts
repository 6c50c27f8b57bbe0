import { statSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import { OperatorError } from '../../core/errors.ts';
import { changeableByOthers } from '../../lib/files/changeable-by-others.js';
import type { Log } from '../../lib/log.ts';

/** A message with room to spare. */
const longestLine = 4_000_000;

/** For commands of the operator (Q9). */
export const operations = [
  'pair list',
  'pair claim',
  'pair approve',
  'pair deny',
  'pair revoke',
  'inbox list',
  'inbox retry',
  'inbox drop',
  'outbox list',
  'outbox retry',
  'backup',
  'forget',
  'stats',
  'policy list',
  'policy revoke',
  'mcp list',
  'mcp agree',
  'capability list',
  'capability accounts',
  'capability revoke',
  'audit tail',
  'audit verify',
  'skills installed',
  'skills removed',
  'skill written',
  'skill enable',
  'skill discard',
] as const;
export type Operation = (typeof operations)[number];

export type OnProgress = (done: number, total: number) => void;

/** `argument` is a code, a sender id, an item's key or a file. Returns plain data. */
export type Operate = (operation: Operation, argument: string, onProgress?: OnProgress) => Promise<unknown>;

/** Takes over a connection of a terminal (H5); returns what takes its further lines. */
export type TakeTerminal = (socket: Socket, who: unknown) => (line: unknown) => void;

const request = z.union([
  z.object({ operation: z.enum(operations), argument: z.string().max(100_000) }),
  z.object({ terminal: z.unknown() }),
]);
const reply = z.union([
  z.object({ ok: z.boolean(), data: z.unknown() }),
  z.object({ done: z.number(), total: z.number() }),
]);

export type Control = Readonly<{ close(): Promise<void> }>;

/** For this user alone (0600). */
export function controlPath(dataDir: string): string {
  return path.join(dataDir, 'control.sock');
}

/** One JSON line in, one out, and one for each step of progress before it. Or a terminal. */
export async function serveControl(options: {
  path: string;
  operate: Operate;
  takeTerminal: TakeTerminal;
  log: Log;
}): Promise<Control> {
  const { operate, takeTerminal, log } = options;
  await rm(options.path, { force: true });
  const open = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', (error) => log.warn({ err: error }, 'a control connection broke'));
    serve(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.path, resolve);
  });
  await chmod(options.path, 0o600);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };

  function serve(socket: Socket): void {
    let take = (line: unknown): void => {
      const asked = request.parse(line);
      if ('terminal' in asked) {
        socket.on('end', () => socket.end());
        take = takeTerminal(socket, asked.terminal);
        return;
      }
      take = () => undefined;
      const onProgress: OnProgress = (done, total) => writeJsonLine(socket, { done, total });
      operate(asked.operation, asked.argument, onProgress).then(
        (data) => socket.end(`${JSON.stringify({ ok: true, data })}\n`),
        (error: unknown) => socket.end(`${JSON.stringify({ ok: false, data: messageOf(error) })}\n`),
      );
    };
    readJsonLines(socket, (line) => take(line));
  }
}

/** Undefined if no bot listens. Throws what it answered as an error. */
export async function askControl(
  socketPath: string,
  operation: Operation,
  argument: string,
  onProgress?: OnProgress,
): Promise<{ data: unknown } | undefined> {
  const socket = await connectControl(socketPath);
  if (socket === undefined) return undefined;
  const { ok, data } = await new Promise<{ ok: boolean; data?: unknown }>((resolve, reject) => {
    const ended = () => reject(new OperatorError(`The bot ended before it had answered \`${operation}\`.`));
    socket.on('error', ended).on('close', ended);
    readJsonLines(socket, (line) => {
      const read = reply.parse(line);
      if ('ok' in read) resolve(read);
      else onProgress?.(read.done, read.total);
    });
    socket.end(`${JSON.stringify({ operation, argument })}\n`);
  });
  if (!ok) throw new OperatorError(String(data));
  return { data };
}

/** Not there, left over, or too long a path. */
const nobody: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ECONNREFUSED', 'EINVAL']);

/** Undefined if no bot runs there. Throws OperatorError if unknown. */
export async function connectControl(socketPath: string): Promise<Socket | undefined> {
  const problem = untrusted(socketPath);
  if (problem !== undefined)
    throw new OperatorError(`The running bot can't be asked: somebody else could answer for it. ${problem}.`);
  const socket = connect(socketPath);
  return new Promise((resolve, reject) => {
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (nobody.has(error.code)) resolve(undefined);
      else reject(new OperatorError(`The running bot can't be asked: ${error.message}.`, { cause: error }));
    });
  });
}

/** Also another user's bot. */
export async function isServed(dataDir: string): Promise<boolean> {
  try {
    const socket = await connectControl(controlPath(dataDir));
    socket?.destroy();
    return socket !== undefined;
  } catch (error) {
    if (error instanceof OperatorError) return true;
    throw error;
  }
}

/** Why somebody else could listen there (S10). Root trusts the data directory's owner. */
function untrusted(socketPath: string, us = process.getuid?.()): string | undefined {
  try {
    return changeableByOthers(socketPath, us === 0 ? statSync(path.dirname(socketPath)).uid : us);
  } catch (error) {
    // Connecting tells which.
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Ends the connection at invalid JSON or an endless line. */
export function readJsonLines(socket: Socket, onLine: (value: unknown) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const take = (line: string): void => {
    if (line.trim() === '') return;
    try {
      onLine(JSON.parse(line) as unknown);
    } catch (error) {
      socket.destroy(new Error('a line could not be read', { cause: error }));
    }
  };
  socket.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > longestLine) socket.destroy(new Error('a line has no end'));
    else lines.forEach(take);
  });
  socket.on('end', () => take(rest));
}

/** Undefined if the connection has ended. */
export function writeJsonLine(socket: Socket, value: unknown): void {
  if (socket.writable) socket.write(`${JSON.stringify(value)}\n`);
}

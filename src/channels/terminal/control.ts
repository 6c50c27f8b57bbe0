import type { OnProgress } from '../../core/operation.ts';
import { statSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import { OperatorError } from '../../core/errors.ts';
import { skilletVersion } from '../../core/version.ts';
import { changeableByOthers } from '../../lib/files/changeable-by-others.js';
import type { Log } from '../../lib/log.ts';

/** In characters: a message with room to spare. */
const longestLine = 4_000_000;

/** Carries out an operation (Q9). Neither its name nor its input is checked yet. Returns plain data. */
export type AnswerOperation = (name: string, input: unknown, onProgress?: OnProgress) => Promise<unknown>;

/** Takes over a connection of a terminal (H5), and returns how to handle its further lines. */
export type TakeTerminal = (socket: Socket, who: unknown) => (line: unknown) => void;

const version = skilletVersion();

const request = z.union([
  z.object({ version: z.literal(version), operation: z.string(), input: z.unknown().optional() }),
  z.object({ version: z.literal(version), terminal: z.unknown() }),
]);
const reply = z.union([
  z.strictObject({ ok: z.boolean(), data: z.unknown().optional() }),
  z.object({ done: z.number(), total: z.number() }),
]);

export type Control = Readonly<{ close(): Promise<void> }>;

const otherVersion = `The running bot is Skillet ${version}, and you asked it with another version. Restart the bot.`;

/** The first line that a terminal sends. */
export function joinRequest(who: unknown): unknown {
  return { version, terminal: who };
}

/** Why the bot refused a terminal; undefined if this line does not say so. */
export function refusalOf(line: unknown): string | undefined {
  const read = reply.safeParse(line).data;
  return read !== undefined && 'ok' in read && !read.ok ? String(read.data) : undefined;
}

/** Path of the control socket, which only this user may open (0600). */
export function controlPath(dataDir: string): string {
  return path.join(dataDir, 'control.sock');
}

/**
 * Serves the control socket: one line of JSON in and one out, preceded by one for each step of progress. Or it serves a
 * terminal.
 */
export async function serveControl(options: {
  path: string;
  operate: AnswerOperation;
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
      const { success, data: asked } = request.safeParse(line);
      const end = (ok: boolean, data: unknown): void => void socket.end(`${JSON.stringify({ ok, data })}\n`);
      take = () => undefined;
      if (!success) return end(false, otherVersion);
      if ('terminal' in asked) {
        socket.on('end', () => socket.end());
        take = takeTerminal(socket, asked.terminal);
        return;
      }
      const onProgress: OnProgress = (done, total) => writeJsonLine(socket, { done, total });
      operate(asked.operation, asked.input, onProgress).then(
        (data) => end(true, data),
        (error: unknown) => end(false, error instanceof Error ? error.message : String(error)),
      );
    };
    readJsonLines(socket, (line) => take(line));
  }
}

/** Asks the running bot. Undefined if none listens. Throws an error that the bot answered. */
export async function askControl(
  socketPath: string,
  operation: string,
  input?: unknown,
  onProgress?: OnProgress,
): Promise<{ data: unknown } | undefined> {
  const socket = await connectControl(socketPath);
  if (socket === undefined) return undefined;
  const { ok, data } = await new Promise<{ ok: boolean; data?: unknown }>((resolve, reject) => {
    const ended = () =>
      reject(
        new OperatorError(
          `The bot ended before it had answered \`${operation}\`. If it still runs, Skillet was updated since its start: restart it.`,
        ),
      );
    socket.on('error', ended).on('close', ended);
    readJsonLines(socket, (line) => {
      const read = reply.parse(line);
      if ('ok' in read) resolve(read);
      else onProgress?.(read.done, read.total);
    });
    socket.end(`${JSON.stringify({ version, operation, input })}\n`);
  });
  if (!ok) throw new OperatorError(String(data));
  return { data };
}

/** Codes of errors that mean nobody listens: the socket is not there, left over, or its path is too long. */
const nobody: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ECONNREFUSED', 'EINVAL']);

/** Connects to the running bot; undefined if there is none. Throws OperatorError if that can't be told. */
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

/** Whether a bot runs there, also one of another user. */
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

/** Why somebody else could listen there; undefined if nobody can (S10). Root trusts the owner of the data directory. */
function untrusted(socketPath: string, us = process.getuid?.()): string | undefined {
  try {
    return changeableByOthers(socketPath, us === 0 ? statSync(path.dirname(socketPath)).uid : us);
  } catch (error) {
    // Connecting will tell the reason.
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/** Reads lines of JSON. It ends the connection for invalid JSON and for an endless line. */
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

/** Writes a value as a line of JSON, unless the connection has ended. */
export function writeJsonLine(socket: Socket, value: unknown): void {
  if (socket.writable) socket.write(`${JSON.stringify(value)}\n`);
}

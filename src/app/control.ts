import { chmod, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import path from 'node:path';
import { z } from 'zod';
import { OperatorError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';

/** What the operator's commands ask of the bot that owns the store (Q9). */
export const operations = [
  'pair list',
  'pair approve',
  'pair deny',
  'pair revoke',
  'inbox list',
  'inbox retry',
  'inbox drop',
] as const;
export type Operation = (typeof operations)[number];

/** Carries out one operation; `argument` is a code, a sender id or an item's key. The answer is plain data. */
export type Operate = (operation: Operation, argument: string) => Promise<unknown>;

const request = z.object({ operation: z.enum(operations), argument: z.string().max(1_000) });
const answer = z.object({ ok: z.boolean(), data: z.unknown() });
const largestRequest = 4_096;

/** A control socket that is being served. */
export type Control = Readonly<{ close(): Promise<void> }>;

/** A socket in the data directory for this user alone (0600): the way to a running bot. */
export function controlPath(dataDir: string): string {
  return path.join(dataDir, 'control.sock');
}

/** Serves operations until closed. One JSON line in, one JSON line out. */
export async function serveControl(options: { path: string; operate: Operate; log: Log }): Promise<Control> {
  const { operate, log } = options;
  await rm(options.path, { force: true });
  const open = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', (error) => log.warn({ err: error }, 'a control connection broke'));
    void serveOne(socket).catch((error: unknown) => {
      socket.end(
        `${JSON.stringify({ ok: false, data: error instanceof Error ? error.message : String(error) })}\n`,
      );
    });
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

  async function serveOne(socket: Socket): Promise<void> {
    let read = 0;
    socket.on('data', (chunk: Buffer) => {
      read += chunk.length;
      if (read > largestRequest) socket.destroy();
    });
    const { operation, argument } = request.parse(JSON.parse(await text(socket)));
    socket.end(`${JSON.stringify({ ok: true, data: await operate(operation, argument) })}\n`);
  }
}

/** Asks a running bot; `undefined` when none listens there. Throws what the bot answered as an error. */
export async function askControl(
  socketPath: string,
  operation: Operation,
  argument: string,
): Promise<{ data: unknown } | undefined> {
  const socket = connect(socketPath);
  const connected = await new Promise<boolean>((resolve, reject) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(false);
      else reject(error);
    });
  });
  if (!connected) return undefined;
  socket.end(JSON.stringify({ operation, argument }));
  const { ok, data } = answer.parse(JSON.parse(await text(socket)));
  if (!ok) throw new OperatorError(String(data));
  return { data };
}

import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServerStep, Wire } from './answer.ts';
import type { StreamEvent } from './stream-events.ts';

/** Writes events as server-sent events, in the way and with the faults that `wire` says. */
export async function sendStream(
  response: ServerResponse,
  events: readonly StreamEvent[],
  wire: Wire,
): Promise<void> {
  response.flushHeaders();
  for (const [index, event] of events.entries()) {
    if (wire.cutAfter === index) return void response.destroy();
    if (wire.errorAfter?.events === index) {
      const { type, message } = wire.errorAfter;
      await write(response, 'error', { type: 'error', error: { type, message } }, wire);
      return void response.end();
    }
    const isHeld = wire.holdBefore === undefined ? event.type === 'message_delta' : index === wire.holdBefore;
    if (isHeld && wire.hold !== undefined) await wire.hold;
    if (wire.dripMs !== undefined && index > 0) await delay(wire.dripMs);
    if (response.destroyed) return;
    await write(response, event.type, event, wire);
    if (index === 1 && wire.pings !== false) await write(response, 'ping', { type: 'ping' }, wire);
  }
  response.end();
}

/** Writes what a server of somebody else wrote. */
export async function sendRaw(
  response: ServerResponse,
  { raw, type = 'text/event-stream', then, chunkBytes }: Extract<ServerStep, { raw: string }>,
): Promise<void> {
  response.writeHead(200, { 'content-type': type });
  response.flushHeaders();
  await writeBytes(response, Buffer.from(raw), chunkBytes);
  if (then === 'reset') response.destroy();
  else if (then === undefined) response.end();
}

export async function sendEndless(
  response: ServerResponse,
  { endless, closed }: Extract<ServerStep, { endless: unknown }>,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.once('close', closed);
  for (let count = 0; !response.destroyed; count++)
    await writeBytes(response, Buffer.from(`data: ${JSON.stringify(endless(count))}\n\n`));
}

function write(response: ServerResponse, name: string, data: object, wire: Wire): Promise<void> {
  const bytes = Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  return writeBytes(response, bytes, wire.chunkBytes);
}

async function writeBytes(response: ServerResponse, bytes: Buffer, size = bytes.length || 1): Promise<void> {
  for (let at = 0; at < bytes.length; at += size) {
    const { promise, resolve } = Promise.withResolvers<void>();
    // The callback comes when the chunk has left: so that chunks are separate packets, and a closed socket ends the wait.
    response.write(bytes.subarray(at, at + size), () => resolve());
    response.once('close', resolve);
    await promise;
    response.off('close', resolve);
  }
}

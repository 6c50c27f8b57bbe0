import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServerStep, Wire } from './answer.ts';
import type { StreamEvent } from './stream-events.ts';

/** A piece of a stream as it goes over the wire. `held`: it waits for `hold` of the wire. */
export type Frame = Readonly<{ held: boolean; text: string | Buffer }>;

/** The events of the Messages API as frames: server-sent events, with a ping after the first two. */
export function messagesFrames(events: readonly StreamEvent[], { pings }: Wire): readonly Frame[] {
  return events.flatMap((event, index) => {
    const ping = index === 1 && pings !== false ? toFrame({ type: 'ping' }).text : '';
    return [{ held: event.type === 'message_delta', text: `${toFrame(event).text}${ping}` }];
  });
}

/** An event as a frame. Also for the error in the middle of a stream. */
export function toFrame(event: StreamEvent): Readonly<{ held: boolean; text: string }> {
  return { held: false, text: `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n` };
}

/** Writes the frames of a stream in the way and with the faults that `wire` says. */
export async function sendStream(
  response: ServerResponse,
  frames: readonly Frame[],
  wire: Wire,
  toFault: (error: Readonly<{ type: string; message: string }>) => Frame = (error) =>
    toFrame({ type: 'error', error }),
): Promise<void> {
  response.flushHeaders();
  for (const [index, frame] of frames.entries()) {
    if (wire.cutAfter === index) return void response.destroy();
    if (wire.errorAfter?.events === index) {
      const { type, message } = wire.errorAfter;
      await write(response, toFault({ type, message }), wire);
      return void response.end();
    }
    const isHeld = wire.holdBefore === undefined ? frame.held : index === wire.holdBefore;
    if (isHeld && wire.hold !== undefined) await wire.hold;
    if (wire.dripMs !== undefined && index > 0) await delay(wire.dripMs);
    if (response.destroyed) return;
    await write(response, frame, wire);
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

function write(response: ServerResponse, { text }: Frame, wire: Wire): Promise<void> {
  return writeBytes(response, Buffer.from(text), wire.chunkBytes);
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

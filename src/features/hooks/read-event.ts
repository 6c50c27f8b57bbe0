import type { IncomingMessage } from 'node:http';
import { parseJson } from '../../lib/json/json-values.ts';
import { decodeText } from '../../lib/text/text.ts';
import type { HookAnswer } from '../../core/hook-answer.ts';
import type { Hook } from './receive-hook.ts';
import { verifyRequest } from './verify-request.ts';

/** How many bytes a body may have (N7). */
export const largestEvent = 64 * 1024;

export type Event = Readonly<{ body: Uint8Array; text: string; delivery: string | undefined }>;

type Read = Readonly<{ ok: true; event: Event } | { ok: false; answer: HookAnswer }>;

/** Reads a request. Nothing of its body is looked at before its sender is known. */
export async function readEvent(request: IncomingMessage, hook: Hook, now: number): Promise<Read> {
  const { method, headers } = request;
  if (method !== 'POST') return no(405, 'malformed', 'POST it');
  if (Number(headers['content-length'] ?? 0) > largestEvent) return tooLarge;
  const body = await readBody(request);
  if (body === 'too large') return tooLarge;
  if (body === 'cut off') return no(408, 'cut_off', 'the request was cut off');
  const verified = verifyRequest({ headers, body }, hook, now);
  if (!verified.ok) return no(401, verified.outcome, verified.why);
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() ?? 'text/plain';
  const isJson = /^application\/(?:[\w.-]+\+)?json$/.test(type);
  if (!isJson && !type.startsWith('text/'))
    return no(415, 'malformed', 'send content-type: application/json or text/plain');
  const text = decodeText(body, false);
  if (text === undefined) return no(400, 'malformed', 'the body is not UTF-8');
  if (isJson && parseJson(text) === undefined) return no(400, 'malformed', 'the body is not JSON');
  return { ok: true, event: { body, text, delivery: verified.delivery } };
}

async function readBody(request: IncomingMessage): Promise<Uint8Array | 'too large' | 'cut off'> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // The connection has to stay open for the answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > largestEvent) return 'too large';
      chunks.push(chunk);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNRESET') return 'cut off';
    throw error;
  }
  return Buffer.concat(chunks);
}

const tooLarge = no(413, 'too_large', `a body has ${largestEvent} bytes at most`);

function no(status: number, outcome: HookAnswer['outcome'], body: string): Extract<Read, { ok: false }> {
  return { ok: false, answer: { status, outcome, body } };
}

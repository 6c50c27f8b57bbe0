import type { IncomingMessage } from 'node:http';
import { BotApiError } from './bot-api-error.ts';

export type Arguments = Readonly<Record<string, unknown>>;
export type Call = Readonly<{ token: string; method: string; args: Arguments }>;

/** Reads `/bot<token>/<method>` and its arguments from query, JSON, form or multipart text fields, as the Bot API does. */
export async function readCall(request: IncomingMessage): Promise<Call> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const found = /^\/bot([^/]+)\/(?:test\/)?([^/]+)$/.exec(decodeURIComponent(url.pathname));
  if (found?.[1] === undefined || found[2] === undefined) throw new BotApiError(404, 'Not Found');
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const args = { ...Object.fromEntries(url.searchParams), ...readBody(request, body) };
  return { token: found[1], method: found[2], args: parseNested(args) };
}

function readBody(request: IncomingMessage, body: Buffer): Record<string, unknown> {
  const type = request.headers['content-type'] ?? '';
  if (body.length === 0) return {};
  if (type.startsWith('application/json')) {
    try {
      return JSON.parse(body.toString('utf8')) as Record<string, unknown>;
    } catch (error) {
      if (error instanceof SyntaxError) {
        throw new BotApiError(400, "Bad Request: can't parse JSON object");
      }
      throw error;
    }
  }
  if (type.startsWith('application/x-www-form-urlencoded')) {
    return Object.fromEntries(new URLSearchParams(body.toString('utf8')));
  }
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)/.exec(type)?.[1];
  if (boundary !== undefined) return readMultipart(body.toString('utf8'), boundary);
  throw new BotApiError(400, 'Bad Request: unsupported content type');
}

/** Text fields only: no method here takes a file. */
function readMultipart(body: string, boundary: string): Record<string, unknown> {
  const parts = body.split(`--${boundary}`).slice(1, -1);
  return Object.fromEntries(
    parts.map((part) => {
      const [head = '', ...rest] = part.replace(/^\r\n/, '').split('\r\n\r\n');
      const name = /name="([^"]*)"/.exec(head)?.[1] ?? '';
      return [name, rest.join('\r\n\r\n').replace(/\r\n$/, '')];
    }),
  );
}

/** Objects and arrays may come as JSON text. */
function parseNested(args: Record<string, unknown>): Arguments {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const isText = typeof value === 'string' && name !== 'text';
      return [name, isText && /^\s*[[{]/.test(value) ? parseOr(value) : value];
    }),
  );
}

function parseOr(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch (error) {
    if (error instanceof SyntaxError) throw new BotApiError(400, `Bad Request: can't parse JSON: ${value}`);
    throw error;
  }
}

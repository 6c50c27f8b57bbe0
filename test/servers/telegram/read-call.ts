import type { IncomingMessage } from 'node:http';
import { BotApiError } from './bot-api-error.ts';

export type Arguments = Readonly<Record<string, unknown>>;
/** A file of a call, by the name that `attach://NAME` refers to. */
export type SentFile = Readonly<{ name: string; bytes: Buffer }>;
export type Files = ReadonlyMap<string, SentFile>;
export type Call = Readonly<{ token: string; method: string; args: Arguments; files: Files }>;

/** Reads `/bot<token>/<method>` and its arguments and its files from query, JSON, form or multipart, as the Bot API does. */
export async function readCall(request: IncomingMessage): Promise<Call> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const found = /^\/bot([^/]+)\/(?:test\/)?([^/]+)$/.exec(decodeURIComponent(url.pathname));
  if (found?.[1] === undefined || found[2] === undefined) throw new BotApiError(404, 'Not Found');
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const type = request.headers['content-type'] ?? '';
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)/.exec(type)?.[1];
  const { fields, files } =
    boundary === undefined || body.length === 0
      ? { fields: readBody(type, body), files: new Map<string, SentFile>() }
      : readMultipart(body, boundary);
  const args = { ...Object.fromEntries(url.searchParams), ...fields };
  return { token: found[1], method: found[2], args: parseNested(args), files };
}

function readBody(type: string, body: Buffer): Record<string, unknown> {
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
  throw new BotApiError(400, 'Bad Request: unsupported content type');
}

/** Byte for byte: a part with a file name is a file. The name ends at the first semicolon, quoted or not. */
function readMultipart(
  body: Buffer,
  boundary: string,
): Readonly<{ fields: Record<string, unknown>; files: Map<string, SentFile> }> {
  const fields: Record<string, unknown> = {};
  const files = new Map<string, SentFile>();
  const parts = body.toString('latin1').split(`--${boundary}`).slice(1, -1);
  for (const part of parts) {
    const [head = '', ...rest] = part.replace(/^\r\n/, '').split('\r\n\r\n');
    const bytes = Buffer.from(rest.join('\r\n\r\n').replace(/\r\n$/, ''), 'latin1');
    const disposition = Buffer.from(head, 'latin1').toString('utf8');
    const name = /name="([^"]*)"/.exec(disposition)?.[1] ?? '';
    const file = /filename=("?)([^";\r\n]*)\1/.exec(disposition)?.[2];
    if (file === undefined) fields[name] = bytes.toString('utf8');
    else files.set(name, { name: file, bytes });
  }
  return { fields, files };
}

/** Objects and arrays may come as JSON text. */
function parseNested(args: Record<string, unknown>): Arguments {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const isText = typeof value === 'string' && name !== 'text' && name !== 'caption';
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

import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { defined } from '../lib/json/json-values.ts';
import type { Html } from '../lib/text/html.ts';

/** Files of the dashboard itself, by their paths. */
export const files: ReadonlyMap<string, Readonly<{ type: string; body: string }>> = new Map([
  ['/page.css', fileOf('page.css', 'text/css; charset=utf-8')],
  ['/page.js', fileOf('page.js', 'text/javascript; charset=utf-8')],
]);

/** How many bytes a form may have. */
const largestForm = 16 * 1024;

/** The fields of a form. Undefined: it is none, or too large. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  if (request.headers['content-type']?.split(';')[0] !== 'application/x-www-form-urlencoded')
    return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largestForm) return undefined;
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}

/** Allows no script, style or image from elsewhere, none inside the page, and no other page around it. */
export const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  // With `no-referrer`, forms would come without their origin.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

export function send(
  response: ServerResponse,
  status: number,
  body: Html | string,
  more: Readonly<Record<string, string | undefined>> = {},
): void {
  const text = typeof body === 'string' ? body : body.markup;
  const type = {
    'content-type': 'text/html; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
  };
  response.writeHead(status, { ...headers, ...type, ...defined<string>(more) });
  response.end(response.req.method === 'HEAD' ? undefined : text);
}

function fileOf(name: string, type: string): Readonly<{ type: string; body: string }> {
  return { type, body: readFileSync(new URL(name, import.meta.url), 'utf8') };
}

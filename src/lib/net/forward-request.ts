import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { request } from './node-http.ts';
import { defined } from '../json/json-values.ts';

/** RFC 9110, 7.6.1; the proxy answers `expect`. */
const hopByHop = [
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Passes a request and its answer on. Rejects if the connection breaks; earlier bytes were passed on. */
export async function forwardRequest(
  url: URL,
  asked: IncomingMessage,
  answer: ServerResponse,
  socket: Socket,
): Promise<void> {
  const onward = request({
    method: asked.method ?? 'GET',
    path: `${url.pathname}${url.search}`,
    headers: defined({
      ...endToEnd(asked.headersDistinct, asked.headers),
      // What was judged, not the Host header.
      host: url.host,
      'transfer-encoding': asked.headers['transfer-encoding'] && 'chunked',
      connection: 'close',
    }),
    maxHeaderSize: 64 * 1024,
    createConnection: () => socket,
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    onward.on('response', resolve).on('error', reject);
    onward.on('close', () => reject(new Error('the connection ended without an answer')));
  });
  // A server may answer before it has read all.
  const sent = pipeline(asked, onward);
  sent.catch(() => undefined);
  const came = await answered;
  answer.sendDate = false;
  answer.writeHead(came.statusCode ?? 502, came.statusMessage, endToEnd(came.headersDistinct, came.headers));
  await pipeline(came, answer);
}

function endToEnd(
  headers: NodeJS.Dict<string[]>,
  { connection }: IncomingHttpHeaders,
): Record<string, string[]> {
  const named = (connection ?? '').toLowerCase().split(',');
  const dropped = new Set([...hopByHop, ...named.map((name) => name.trim())]);
  const kept = Object.entries(headers).flatMap(([name, values]) =>
    values === undefined || dropped.has(name) ? [] : [[name, values] as const],
  );
  return Object.fromEntries(kept);
}

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { request } from './node-http.ts';
import { connectChecked, type ReachOptions } from './connect-checked.ts';
import { hostOf } from './judge-target.ts';
import { onAbort } from '../async/on-abort.ts';

type HttpOptions = Readonly<{
  method?: string;
  body?: string;
  headers: Readonly<Record<string, string>>;
  /** How many bytes of the unpacked body are read. What follows is left. */
  maxBytes: number;
  wants?: (status: number, headers: IncomingHttpHeaders) => boolean;
  connect?: ReachOptions;
  signal: AbortSignal;
}>;

export type HttpAnswer =
  | Readonly<{
      ok: true;
      status: number;
      statusText: string;
      headers: IncomingHttpHeaders;
      body: Buffer;
      cut: boolean;
    }>
  /** `refused`: nobody may reach it. `broken`: there was no complete answer. `message` names the host. */
  | Readonly<{
      ok: false;
      code: 'refused' | 'not_found' | 'unreachable' | 'timeout' | 'cancelled' | 'broken';
      message: string;
    }>;

/**
 * Sends one request, GET by default, to a checked address (T3) with a valid certificate. It follows no redirects, keeps no cookies
 * and reuses no connection.
 */
export async function httpRequest(url: URL, options: HttpOptions): Promise<HttpAnswer> {
  const { signal, maxBytes, wants = () => true } = options;
  const written = hostOf(url);
  const host = written.host.replace(/\.$/, '');
  const secure = url.protocol === 'https:';
  const protocol = secure ? 'https:' : 'http:';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  const connected = await connectChecked(host, port, { ...options.connect, protocol, signal });
  if (!connected.ok) return connected;
  const { socket } = connected;
  const end = (): void => void socket.destroy();
  socket.on('error', end);
  const stopListening = onAbort(signal, end);
  try {
    signal.throwIfAborted();
    const line = secure ? await secured(socket, host, written.isAddress) : socket;
    const came = await ask(url, line, options);
    const status = came.statusCode ?? 0;
    const wanted = wants(status, came.headers);
    const read = wanted ? await readUpTo(unpacked(came), maxBytes) : { body: Buffer.alloc(0), cut: false };
    return { ok: true, status, statusText: came.statusMessage ?? '', headers: came.headers, ...read };
  } catch (error) {
    if (signal.aborted)
      return { ok: false, code: 'cancelled', message: `the answer of ${host} was given up` };
    return { ok: false, code: 'broken', message: `${host} ${faultOf(error)}` };
  } finally {
    stopListening();
    end();
  }
}

function secured(socket: Socket, host: string, isAddress: boolean): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const line = connectTls({
      socket,
      host,
      // A certificate has no name for an address.
      servername: isAddress ? undefined : host,
      ALPNProtocols: ['http/1.1'],
    });
    line.once('secureConnect', () => resolve(line)).on('error', reject);
    line.once('close', () => reject(new Error('ended the connection')));
  });
}

function ask(url: URL, line: Socket, { method, body, headers }: HttpOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = request({
      method,
      path: `${url.pathname}${url.search}`,
      headers: { host: url.host, 'accept-encoding': 'gzip, deflate, br', ...headers, connection: 'close' },
      maxHeaderSize: 64 * 1024,
      createConnection: () => line,
    });
    asked.on('response', resolve).on('error', reject).end(body);
    asked.once('close', () => reject(new Error('ended the connection')));
  });
}

function unpacked(came: IncomingMessage): Readable {
  const encoding = (came.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return came;
  const unpack = unpackers.get(encoding);
  if (unpack === undefined) throw new Error('packed its answer in a way that was not asked for');
  return pipeline(came, unpack(), () => undefined);
}

const unpackers = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** Reads at most `maxBytes`, because a body may unpack without end. */
async function readUpTo(
  source: Readable,
  maxBytes: number,
): Promise<Readonly<{ body: Buffer; cut: boolean }>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) return { body: Buffer.concat(chunks).subarray(0, maxBytes), cut: true };
  }
  return { body: Buffer.concat(chunks), cut: false };
}

function faultOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (/CERT|SELF_SIGNED|ALTNAME|ISSUER|SIGNATURE/.test(code)) return `has no valid certificate (${code})`;
  if (/^ERR_SSL|^ERR_TLS|^EPROTO/.test(code)) return `does not speak TLS as it should (${code})`;
  if (code.startsWith('HPE_')) return `does not answer as a web server does (${code})`;
  if (code.startsWith('Z_') || code.startsWith('ERR_BROTLI') || code.startsWith('ERR__ERROR'))
    return 'sent an answer that cannot be unpacked';
  return /^(ended|packed)/.test(message) ? message : 'ended the connection before its answer was whole';
}

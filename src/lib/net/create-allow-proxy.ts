import { chmod } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { defined } from '../json/json-values.ts';
import type { Log } from '../log.ts';
import { createServer, request } from './node-http.ts';
import { connectChecked, type ReachOptions } from './connect-checked.ts';
import { judgeTarget } from './judge-target.ts';

type AllowProxy = Readonly<{
  socketPath: string;
  close(): Promise<void>;
}>;

export type AllowProxyOptions = Readonly<{
  /** Allowed host names. `*.NAME` matches everything below NAME. */
  hosts: readonly string[];
  /** Where to listen. The path must not exist and has at most 107 bytes. It becomes 0600. */
  socketPath: string;
  ports?: readonly number[];
  howToAllow?: (host: string) => string;
  connect?: ReachOptions;
  limits?: Readonly<{
    /** Connections at the same time; default 64. */
    connections?: number;
    /** Bytes of the headers of a request; default 16 KB. */
    headerBytes?: number;
    /** Milliseconds until the headers of a request are complete; default 10 s. */
    headersMs?: number;
    /** Milliseconds without a byte before a connection is closed; default 120 s. */
    idleMs?: number;
  }>;
  log?: Log;
  onRefused?: (asked: string, reason: string) => void;
}>;

/**
 * The only way out of a sandbox (T9). On a unix socket it accepts whole `http:` addresses and CONNECT, and connects to
 * checked addresses. A refusal says what to declare. The content of tunnels is not inspected.
 */
export async function createAllowProxy(options: AllowProxyOptions): Promise<AllowProxy> {
  const {
    hosts,
    socketPath,
    ports = [80, 443],
    howToAllow = inSkill,
    connect = {},
    log,
    onRefused,
  } = options;
  const { connections = 64, idleMs = 120_000 } = options.limits ?? {};
  const open = new Set<Duplex>();
  const busy = new Set<IncomingMessage>();
  const server = createLimitedServer({ ...options.limits, connections, idleMs });

  server.on('connection', (socket) => keep(socket));
  server.on('request', (asked, answer) => {
    void serve(
      asked,
      answer,
      (refusal) => answerRefusal(answer, refusal),
      async (socket, url) => {
        await forwardRequest(url, asked, answer, socket);
      },
    );
  });
  server.on('connect', (asked, client, head) => {
    asked.socket.setTimeout(idleMs, () => client.destroy());
    void serve(
      asked,
      client,
      (refusal) => client.end(refusalText(refusal)),
      async (socket) => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        if (head.length > 0) socket.write(head);
        await tunnel(client, socket);
      },
    );
  });
  await listen(server, socketPath);

  return {
    socketPath,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const each of open) each.destroy();
      await closed;
    },
  };

  async function serve(
    asked: IncomingMessage,
    client: Duplex | ServerResponse,
    refuse: (refusal: Refusal) => void,
    use: (socket: Socket, url: URL) => Promise<void>,
  ): Promise<void> {
    const gone = new AbortController();
    client.once('close', () => gone.abort());
    busy.add(asked);
    let socket: Socket | undefined;
    try {
      const url = targetUrl(asked);
      const target =
        url === undefined
          ? notAProxyRequest
          : judgeTarget(url, { hosts, ports, howToAllow, mayReach: connect.mayReach });
      if (!target.ok) return turnDown(asked, refuse, target);
      if (busy.size > connections) return turnDown(asked, refuse, tooMany(connections));
      const connected = await connectChecked(target.host, target.port, {
        ...connect,
        protocol: asked.method === 'CONNECT' ? 'https:' : 'http:',
        signal: gone.signal,
      });
      if (!connected.ok) return turnDown(asked, refuse, unreached(connected));
      socket = keep(connected.socket);
      socket.setTimeout(idleMs, () => socket?.destroy());
      await use(socket, target.url);
    } catch (error) {
      log?.debug({ host: asked.headers.host, error: String(error) }, 'a connection through the proxy broke');
      if ('headersSent' in client && !client.headersSent) refuse(broken);
      else client.destroy();
    } finally {
      busy.delete(asked);
      socket?.destroy();
    }
  }

  function turnDown(asked: IncomingMessage, refuse: (refusal: Refusal) => void, refusal: Refusal): void {
    log?.info({ asked: asked.url?.slice(0, 200), refused: refusal.reason }, 'the proxy refused a request');
    const host = targetUrl(asked)?.host;
    if (host !== undefined) onRefused?.(host, refusal.reason);
    refuse(refusal);
  }

  function keep(socket: Socket): Socket {
    open.add(socket);
    return socket.once('close', () => open.delete(socket)).on('error', () => socket.destroy());
  }
}

function createLimitedServer({
  connections,
  headerBytes = 16_384,
  headersMs = 10_000,
  idleMs,
}: NonNullable<AllowProxyOptions['limits']> & Readonly<{ connections: number; idleMs: number }>): Server {
  const server = createServer({
    maxHeaderSize: headerBytes,
    headersTimeout: headersMs,
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(headersMs, 5_000),
    noDelay: true,
  });
  // More may connect than are served, so that the others are told why they have to wait.
  server.maxConnections = connections * 2;
  server.setTimeout(idleMs);
  return server;
}

async function listen(server: Server, socketPath: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(socketPath, resolve);
  });
  await chmod(socketPath, 0o600);
}

type Refusal = Readonly<{ status: number; reason: string; message: string }>;

const notAProxyRequest = {
  ok: false,
  status: 400,
  reason: 'not a proxy request',
  message: 'This is a proxy: ask it with a whole http:// address, or with CONNECT host:443 for https.',
} as const;
const broken: Refusal = {
  status: 502,
  reason: 'the connection broke',
  message: 'The host ended the connection without a whole answer.',
};

function targetUrl({ method, url = '' }: IncomingMessage): URL | undefined {
  if (method !== 'CONNECT') return /^http:\/\//i.test(url) ? parsed(url) : undefined;
  return /^[^/?#@\s\\]+:\d{1,5}$/.test(url) ? parsed(`http://${url}`) : undefined;
}

function parsed(text: string): URL | undefined {
  const url = URL.parse(text);
  return url === null || url.username !== '' || url.password !== '' ? undefined : url;
}

function unreached({ code, message }: Readonly<{ code: string; message: string }>): Refusal {
  const status = code === 'refused' ? 403 : code === 'timeout' ? 504 : 502;
  return { status, reason: message.slice(0, 200), message: `${message}.` };
}

function tooMany(most: number): Refusal {
  return {
    status: 503,
    reason: 'too many connections',
    message: `At most ${most} connections are open at the same time: wait until one ends.`,
  };
}

function inSkill(host: string): string {
  return `For a skill to reach it, the front matter of its SKILL.md has to name it, network: [${host}], or the operator in config.toml: [skills.NAME] network = ["${host}"]`;
}

function answerRefusal(answer: ServerResponse, { status, reason, message }: Refusal): void {
  answer.writeHead(status, reason, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  answer.end(`${message}\n`);
}

function refusalText({ status, reason, message }: Refusal): string {
  return [
    `HTTP/1.1 ${status} ${reason}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(message) + 1}`,
    'Connection: close',
    '',
    `${message}\n`,
  ].join('\r\n');
}

function tunnel(client: Duplex, socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    client.once('close', resolve);
    socket.once('close', () => {
      client.end();
      resolve();
    });
    client.pipe(socket);
    socket.pipe(client);
  });
}

/** Headers of one connection only (RFC 9110, 7.6.1). The proxy itself answers `expect`. */
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

/** Passes a request and its answer on. Rejects if the connection breaks; the bytes before that were passed on. */
async function forwardRequest(
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

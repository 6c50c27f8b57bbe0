import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { OperatorError } from '../../core/errors.ts';
import type { Feature } from '../../core/feature.ts';
import type { HookAnswer } from '../../core/hook-answer.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { serveHttp, type HttpServer } from '../../lib/net/serve-http.ts';
import { hostAndPort } from '../../lib/text/text.ts';
import type { LinkState } from '../../core/server-state.ts';
import { ofLink } from '../../core/server-state.ts';
import type { Metrics, Readiness } from './open-metrics.ts';
import { defined } from '../../lib/json/json-values.ts';

export type HealthServer = Pick<HttpServer, 'url' | 'close'>;

/** Milliseconds in which a request has to arrive; otherwise it is cut. */
const longestRequestMs = 5_000;
/** How many bytes the head of a request may have. Bodies are refused. */
const largestHead = 8 * 1024;
const mostConnections = 64;

export type HealthOptions = Readonly<{
  listen: string;
  requirements(): Readiness;
  /** MCP servers. The bot answers without them, so they do not decide whether it is ready. */
  servers(): Readonly<Record<string, LinkState>>;
  metrics: Pick<Metrics, 'text' | 'contentType'>;
  receiveHook?: ReceiveHook | undefined;
  page?: Feature['page'] | undefined;
  redact(text: string): string;
  clock: Clock;
  log: Log;
}>;

/**
 * Serves `/livez`, `/readyz` (200 or 503) and `/metrics` for GET and HEAD (L4, S4), and hooks (N7). Throws
 * OperatorError if it can't listen.
 */
export async function serveHealth(options: HealthOptions): Promise<HealthServer> {
  const { listen, requirements, servers, metrics, receiveHook, page, redact, clock, log } = options;
  const { host, port } = hostAndPort(listen);

  async function answer(request: IncomingMessage): Promise<Answer> {
    const url = URL.parse(request.url ?? '/', 'http://localhost');
    const pathname = url?.pathname ?? '';
    // Proxies and senders of hooks use names of their own, and they know a secret.
    if (receiveHook !== undefined && pathname.startsWith(hooksPath))
      return ofHook(await receiveHook(pathname.slice(hooksPath.length), request));
    // Browsers come by the public name of the bot, with a secret in their address.
    const shown =
      request.method === 'GET' && !hasBody(request) ? page?.(pathname, url?.searchParams ?? none) : undefined;
    if (shown !== undefined) return { ...(await shown), headers: pageHeaders };
    if (hasBody(request)) return { status: 413, body: 'no request here has a body\n', last: true };
    if (!isOurs(request.headers.host, host))
      return { status: 421, body: 'this name is not known here: use the address\n', last: true };
    if (!paths.has(pathname)) return { status: 404, body: `there is ${[...paths].join(', ')}\n` };
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return { status: 405, body: 'GET it\n', allow: 'GET, HEAD' };
    if (pathname === '/livez') return { status: 200, body: 'ok\n' };
    if (pathname === '/metrics')
      return { status: 200, body: redact(await metrics.text()), type: metrics.contentType };
    const report = { ...requirements(), mcp: describeServers(servers(), clock.now()) };
    const body = redact(`${JSON.stringify(report, null, 2)}\n`);
    return { status: report.ready ? 200 : 503, body, type: 'application/json' };
  }

  const server = await serveHttp(
    (request, response) => {
      answer(request).then(
        (what) => reply(response, what, request.method === 'HEAD'),
        (error: unknown) => {
          log.error({ err: error }, 'could not answer a request for health or metrics');
          reply(response, { status: 500, body: 'see the log\n', last: true }, false);
        },
      );
    },
    { host, port, longestRequestMs, largestHead, mostConnections, cannotListen: cannotServe(listen) },
  );
  const { url, address } = server;
  if (!isLoopback(address)) {
    log.warn({ url }, 'anyone who reaches this address can read health and metrics');
  }
  log.info({ url }, 'serving health and metrics');
  return server;
}

function describeServers(servers: Readonly<Record<string, LinkState>>, now: number): object {
  return Object.fromEntries(
    Object.entries(servers).map(([name, link]) => {
      const { is, since, why } = ofLink(link);
      return [name, { state: is, sinceSeconds: Math.max(0, Math.round((now - since) / 1_000)), reason: why }];
    }),
  );
}

type Answer = Readonly<{
  status: number;
  body: string;
  type?: string;
  allow?: string | undefined;
  retryAfter?: number | undefined;
  headers?: Readonly<Record<string, string>>;
  last?: boolean;
}>;

type ReceiveHook = NonNullable<Feature['receiveHook']>;

const hooksPath = '/hooks/';
const none = new URLSearchParams();

/** A page holds a code for one person: nothing keeps it, frames it, or learns its address. */
const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; form-action 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/**
 * After an error the connection closes, because a body that was not read to its end can't be followed by another
 * request.
 */
function ofHook({ status, body, retryAfter }: HookAnswer): Answer {
  return {
    status,
    body: `${body}\n`,
    allow: status === 405 ? 'POST' : undefined,
    retryAfter,
    last: status >= 400,
  };
}

const paths: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics']);

function reply(
  response: ServerResponse,
  { status, body, type, allow, retryAfter, headers: more, last }: Answer,
  headOnly: boolean,
): void {
  const headers = {
    'content-type': type ?? 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...more,
    allow,
    'retry-after': retryAfter,
    connection: last === true ? 'close' : undefined,
  };
  response.writeHead(status, defined<string | number>(headers));
  response.end(headOnly ? undefined : body);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Whether the request is for an address, the configured host or a name without a dot. A page in a browser could come
 * under a name of its own (DNS rebinding), but not under these.
 */
function isOurs(header: string | undefined, configured: string): boolean {
  if (header === undefined) return true;
  const name =
    URL.parse(`http://${header}`)
      ?.hostname.replace(/^\[|\]$/g, '')
      .replace(/\.$/, '') ?? '.';
  return (
    isIP(name) !== 0 ||
    !name.includes('.') ||
    name.endsWith('.localhost') ||
    name === configured.toLowerCase()
  );
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address);
}

const cannotServe = (listen: string) => (why: string, cause: Error) =>
  new OperatorError(
    `health and metrics can't be served on ${listen}: ${why}. Write a free address under [server], such as listen = "127.0.0.1:9464", or take the line out.`,
    { cause },
  );

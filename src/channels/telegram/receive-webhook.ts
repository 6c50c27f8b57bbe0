import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Update } from 'grammy/types';
import { OperatorError } from '../../core/errors.ts';
import type { Log } from '../../lib/log.ts';
import { serveHttp } from '../../lib/net/serve-http.ts';
import { parseJson } from '../../lib/json/json-values.ts';
import type { TakeUpdates } from './take-updates.ts';

/** Updates are below 512 KiB, unescaped (S4). */
export const largestBody = 1024 * 1024;
const longestRequestMs = 15_000;
const mostConnections = 256;

/** Telegram repeats what was not answered 200 (Q1). */
export async function receiveWebhook(options: {
  listen: Readonly<{ host: string; port: number }>;
  path: string;
  secret: string;
  updates: TakeUpdates;
  log: Log;
}): Promise<Readonly<{ stop(): Promise<void> }>> {
  const { listen, path, secret, updates, log } = options;
  const underWay = new Set<Promise<void>>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      reply(response, await handle(request));
    } catch (error) {
      log.error({ err: error }, 'a webhook update could not be stored; Telegram sends it again');
      reply(response, 500);
    }
  }

  async function handle(request: IncomingMessage): Promise<number> {
    const asked = URL.parse(request.url ?? '/', 'http://localhost');
    if (asked?.pathname !== path) return 404;
    if (request.method !== 'POST') return 405;
    if (!sameSecret(request.headers['x-telegram-bot-api-secret-token'], secret)) {
      log.warn({ from: request.socket.remoteAddress }, 'a webhook call without the secret was refused');
      return 401;
    }
    const body = await readBody(request);
    if (body === undefined) return 413;
    const update = parseUpdate(body);
    if (update === undefined) return 400;
    await updates.take(update);
    return 200;
  }

  const server = await serveHttp(
    (request, response) => {
      const work = answer(request, response).finally(() => underWay.delete(work));
      underWay.add(work);
    },
    {
      ...listen,
      longestRequestMs,
      mostConnections,
      cannotListen: (why, cause) =>
        new OperatorError(
          `the Telegram webhook can't listen on ${listen.host}:${listen.port}: ${why}. Set another address: [telegram] listen`,
          { cause },
        ),
    },
  );
  return { stop: () => server.close(Promise.all(underWay)) };
}

function reply(response: ServerResponse, status: number): void {
  response.writeHead(status, status === 200 ? {} : { connection: 'close' }).end();
}

/** Hashes have one length. */
function sameSecret(given: string | string[] | undefined, secret: string): boolean {
  if (typeof given !== 'string') return false;
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(secret));
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > largestBody) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largestBody) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseUpdate(body: string): Update | undefined {
  const value = parseJson(body);
  const isUpdate = typeof value === 'object' && value !== null && 'update_id' in value;
  return isUpdate ? (value as Update) : undefined;
}

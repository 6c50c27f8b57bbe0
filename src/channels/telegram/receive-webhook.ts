import type { IncomingMessage, ServerResponse } from 'node:http';
import { webhookCallback, type Bot } from 'grammy';
import type { Update } from 'grammy/types';
import { OperatorError } from '../../core/errors.ts';
import type { Log } from '../../lib/log.ts';
import { serveHttp } from '../../lib/net/serve-http.ts';
import { parseJson } from '../../lib/json/json-values.ts';
import { thrownBy } from './telegram-api.ts';

/** In bytes. Updates are below 512 KiB before escaping (S4). */
export const largestBody = 1024 * 1024;
const longestRequestMs = 15_000;
const mostConnections = 256;

/** Receives updates by webhook. Telegram repeats those that were not answered with 200 (Q1). */
export async function receiveWebhook(options: {
  bot: Bot;
  listen: Readonly<{ host: string; port: number }>;
  path: string;
  secret: string;
  log: Log;
}): Promise<Readonly<{ stop(): Promise<void> }>> {
  const { bot, listen, path, secret, log } = options;
  const underWay = new Set<Promise<void>>();

  const answerUpdate = webhookCallback(bot, adapter, { secretToken: secret, timeoutMilliseconds: Infinity });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = URL.parse(request.url ?? '/', 'http://localhost');
    if (asked?.pathname !== path) return reply(response, 404);
    if (request.method !== 'POST') return reply(response, 405);
    try {
      await answerUpdate(request, response);
      if (response.statusCode === 401)
        log.warn({ from: request.socket.remoteAddress }, 'a webhook call without the secret was refused');
    } catch (error) {
      if (error instanceof Refused) return reply(response, error.status);
      log.error({ err: thrownBy(error) }, 'a webhook update could not be stored; Telegram sends it again');
      reply(response, 500);
    }
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

class Refused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the request is answered ${status}`);
    this.status = status;
  }
}

/**
 * An adapter like grammY's own for Node, but with a limit for bodies. The body is read only after the secret was found
 * to be right.
 */
function adapter(request: IncomingMessage, response: ServerResponse) {
  const secret = request.headers['x-telegram-bot-api-secret-token'];
  return {
    header: typeof secret === 'string' ? secret : undefined,
    get update() {
      return readUpdate(request);
    },
    end: () => reply(response, 200),
    respond: (json: string) => response.end(json),
    unauthorized: () => reply(response, 401),
    handlerReturn: undefined,
  };
}

async function readUpdate(request: IncomingMessage): Promise<Update> {
  const body = await readBody(request);
  if (body === undefined) throw new Refused(413);
  const value = parseJson(body);
  if (typeof value !== 'object' || value === null || !('update_id' in value)) throw new Refused(400);
  return value as Update;
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

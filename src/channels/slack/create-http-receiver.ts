import type { RequestListener } from 'node:http';
import type * as Bolt from '@slack/bolt';
import { OperatorError } from '../../core/errors.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { serveHttp, type HttpServer } from '../../lib/net/serve-http.ts';
import { toSlackLogger } from './slack-log.ts';

type HttpOptions = Readonly<{
  signingSecret: string;
  listen: Readonly<{ host: string; port: number }>;
  log: Log;
  clock: Clock;
}>;

/**
 * Bolt's HTTP receiver behind our server, which limits connections and refuses requests dated in the future (S1, S18).
 * An event that was not stored is answered with 500, so that Slack sends it again (Q1). `start` rejects if it can't
 * listen.
 */
export function createHttpReceiver(bolt: typeof Bolt, options: HttpOptions): Bolt.Receiver {
  const { log, clock, listen } = options;
  const receiver = new bolt.HTTPReceiver({
    signingSecret: options.signingSecret,
    logger: toSlackLogger(log),
    bodyLimit: 1024 * 1024,
    processEventErrorHandler: async ({ error, response }) => {
      log.error({ err: error }, 'a Slack request was not stored: Slack delivers it again');
      if (!response.headersSent) response.writeHead(500).end();
      return false;
    },
    unhandledRequestHandler: ({ response }) => {
      if (response.headersSent) return;
      log.error({}, 'a Slack request was not stored within 3 s: Slack delivers it again');
      response.writeHead(503).end();
    },
  });
  const opened: { server?: HttpServer } = {};
  return {
    init: (app) => receiver.init(app),
    async start() {
      opened.server = await serveHttp(notAhead(receiver.requestListener, clock), {
        ...listen,
        longestRequestMs,
        mostConnections,
        cannotListen: (why, cause) =>
          new OperatorError(
            `Slack's events can't be received on ${listen.host}:${listen.port}: ${why}. Set another address: [slack] listen`,
            { cause },
          ),
      });
      log.info({ url: `${opened.server.url}/slack/events` }, 'listening for Slack events');
    },
    stop: async () => opened.server?.close(),
  };
}

const windowMs = 5 * 60_000;
const longestRequestMs = 15_000;
const mostConnections = 256;

/**
 * Refuses requests dated in the future; Bolt refuses only those that are too old. Bolt throws for paths that are not
 * its own.
 */
function notAhead(listener: RequestListener, clock: Clock): RequestListener {
  return (request, response) => {
    const sentAt = Number(request.headers['x-slack-request-timestamp']) * 1000;
    if (sentAt - clock.now() > windowMs) {
      response.writeHead(401).end();
      return;
    }
    try {
      listener(request, response);
    } catch {
      response.writeHead(404).end();
    }
  };
}

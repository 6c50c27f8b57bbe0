import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Receiver } from '@slack/bolt';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { BoltParts } from './load-bolt.ts';
import { toSlackLogger } from './slack-log.ts';

type HttpOptions = Readonly<{
  signingSecret: string;
  listen: Readonly<{ host: string; port: number }>;
  log: Log;
  clock: Clock;
}>;

/** Refuses requests dated ahead (S1); an event that was not stored gets a 500, so Slack sends it again (Q1). */
export function createHttpReceiver(bolt: BoltParts, options: HttpOptions): Receiver {
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
    dispatchErrorHandler: ({ response }) => void response.writeHead(404).end(),
  });
  receiver.requestListener = notAhead(receiver.requestListener, clock);
  return {
    init: (app) => receiver.init(app),
    async start() {
      const server = await receiver.start(listen);
      server.maxConnections = mostConnections;
      const { address, port } = server.address() as AddressInfo;
      const host = address.includes(':') ? `[${address}]` : address;
      log.info({ url: `http://${host}:${port}/slack/events` }, 'Slack events are awaited');
    },
    stop: () => receiver.stop(),
  };
}

const windowMs = 5 * 60_000;
const mostConnections = 256;

function notAhead(listener: RequestListener, clock: Clock): RequestListener {
  return (request, response) => {
    const sentAt = Number(request.headers['x-slack-request-timestamp']) * 1000;
    if (sentAt - clock.now() > windowMs) {
      response.writeHead(401).end();
      return;
    }
    listener(request, response);
  };
}

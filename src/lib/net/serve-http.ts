import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { whyNotListening } from '../text/text.ts';
import { createServer } from './node-http.ts';

export type HttpServer = Readonly<{
  /** The address with the port that was taken, such as `http://127.0.0.1:8080`. */
  url: string;
  /** The IP address as the system writes it. */
  address: string;
  port: number;
  /** Accepts no more connections, waits for `work`, then closes those that are left. */
  close(work?: Promise<unknown>): Promise<void>;
}>;

/**
 * Serves HTTP to callers that nobody trusts (S4, S18). A request has to arrive within `longestRequestMs` milliseconds.
 * Above `mostConnections` connections, an idle one of the address that has most is closed. Rejects with
 * `cannotListen(why)`.
 */
export async function serveHttp(
  listener: RequestListener,
  options: Readonly<{
    host: string;
    port: number;
    longestRequestMs: number;
    mostConnections: number;
    /** How many bytes the head of a request may have. */
    largestHead?: number;
    cannotListen(why: string, cause: Error): Error;
  }>,
): Promise<HttpServer> {
  const { host, port, longestRequestMs, mostConnections, largestHead, cannotListen } = options;
  const server = createServer(
    {
      requestTimeout: longestRequestMs,
      headersTimeout: longestRequestMs,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: largestHead,
    },
    listener,
  );
  limitConnections(server, mostConnections);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(whyNotListening(error), error)));
    server.listen(port, host, resolve);
  });
  const { address, family, port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`,
    address,
    port: taken,
    async close(work) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await work;
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Keeps at most so many connections (S18). For one more, it closes the oldest one without a complete request, of the
 * address that has most. So slow and idle connections keep nobody else out.
 */
function limitConnections(server: Server, most: number): void {
  const asked = new Map<Socket, IncomingMessage | undefined>();

  server.on('connection', (socket: Socket) => {
    asked.set(socket, undefined);
    socket.once('close', () => asked.delete(socket));
    if (asked.size > most) (oldestIdle() ?? socket).destroy();
  });
  server.prependListener('request', (request, response) => {
    const { socket } = request;
    asked.set(socket, request);
    response.once('close', () => {
      if (asked.has(socket)) asked.set(socket, undefined);
    });
  });

  function oldestIdle(): Socket | undefined {
    const idle = [...asked].flatMap(([socket, request]) => (request?.complete === true ? [] : [socket]));
    const byAddress = Map.groupBy(idle, ({ remoteAddress }) => remoteAddress);
    const [largest = []] = [...byAddress.values()].sort((one, other) => other.length - one.length);
    return largest[0];
  }
}

import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps at most so many connections (S18). For one more, the oldest one without a whole request is closed, of the address
 * that has most: slow and idle connections keep nobody else out.
 */
export function limitConnections(server: Server, most: number): void {
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

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** An address that can move from one server to another, as a proxy or DNS does it. */
export type MovingAddress = Readonly<{
  port: number;
  /** Connections to the old server end. */
  moveTo(socket: string): void;
  close(): Promise<void>;
}>;

const keepAliveMs = 2_000;

/** Listens at `host` and `port`, and passes bytes on to the server behind this Unix socket. */
export async function startMovingAddress(
  at: Readonly<{ host: string; port: number }>,
  socket: string,
): Promise<MovingAddress> {
  const target = { now: socket };
  const open = new Set<Socket>();
  const server = createServer((client) => {
    client.setKeepAlive(true, keepAliveMs).setNoDelay(true);
    const behind = connect(target.now);
    const end = (): void => {
      for (const one of [client, behind]) {
        open.delete(one);
        one.destroy();
      }
    };
    for (const one of [client, behind]) {
      open.add(one);
      one.on('error', end).on('close', end);
    }
    client.pipe(behind).pipe(client);
  });
  server.listen(at.port, at.host);
  await once(server, 'listening');
  const hangUp = (): void => open.forEach((one) => one.destroy());
  return {
    port: (server.address() as AddressInfo).port,
    moveTo(next) {
      target.now = next;
      hangUp();
    },
    async close() {
      server.close();
      hangUp();
      await once(server, 'close');
    },
  };
}

import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from '../../src/lib/net/node-http.ts';
import type { HostAddress } from '../../src/lib/net/connect-checked.ts';

/** A web server on loopback, reached under any name through `connect`. */
export type WebSite = Readonly<{
  port: number;
  /** Leads every name to this server, and lets nothing else be reached. */
  connect: Readonly<{
    lookup(host: string): Promise<readonly HostAddress[]>;
    mayReach(address: string): boolean;
  }>;
  /** `http://NAME:PORT/PATH`. */
  url(path: string, host?: string): string;
  /** Connections that were made to it. */
  connections(): number;
  close(): Promise<void>;
}>;

/** Starts a site. */
export async function startWebSite(listener: RequestListener): Promise<WebSite> {
  let connections = 0;
  const server = createServer(listener);
  server.on('connection', () => (connections += 1));
  // An idle connection that the server ends just as a request is sent would fail that request.
  server.keepAliveTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    connect: {
      lookup: async () => [{ address: '127.0.0.1', family: 4 }],
      mayReach: (address) => address === '127.0.0.1',
    },
    url: (path, host = 'site.test') => `http://${host}:${port}${path}`,
    connections: () => connections,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

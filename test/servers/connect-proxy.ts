import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext, TLSSocket } from 'node:tls';
import { createServer, request } from '../../src/lib/net/node-http.ts';

/** An HTTP proxy as companies have one: CONNECT, whole addresses, perhaps with a login, perhaps looking into TLS. */
export type ConnectProxy = Readonly<{
  /** Without a login. */
  url: string;
  /** What it was asked for: `CONNECT host:443`, `GET http://host/path`. */
  asked: readonly string[];
  close(): Promise<void>;
}>;

/** `hosts`: the names that it alone knows, and ports of this machine where they are. */
export async function startConnectProxy(
  hosts: ReadonlyMap<string, number>,
  options: Readonly<{ login?: string; certificate?: Readonly<{ key: string; cert: string }> }> = {},
): Promise<ConnectProxy> {
  const { login, certificate } = options;
  const asked: string[] = [];
  const open = new Set<Duplex>();
  const mayPass = ({ headers }: IncomingMessage): boolean =>
    login === undefined ||
    headers['proxy-authorization'] === `Basic ${Buffer.from(login).toString('base64')}`;
  const server = createServer((incoming, answer) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    if (!mayPass(incoming)) return answer.writeHead(407).end();
    const url = URL.parse(incoming.url ?? '');
    const port = hosts.get(url?.hostname ?? '');
    if (url === null || port === undefined) return answer.writeHead(502).end('this proxy knows no such host');
    const { method, headers } = incoming;
    const onward = request({
      port,
      host: '127.0.0.1',
      path: `${url.pathname}${url.search}`,
      method,
      headers,
    });
    onward.on('response', (came) => came.pipe(answer.writeHead(came.statusCode ?? 502, came.headers)));
    onward.on('error', () => answer.destroy());
    incoming.pipe(onward);
  });
  server.on('connection', (socket: Socket) => open.add(socket.on('error', () => undefined)));
  server.on('connect', (incoming: IncomingMessage, client: Duplex) => {
    asked.push(`CONNECT ${incoming.url}`);
    if (!mayPass(incoming)) return client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const [, host = '', asPort] = /^\[?([^\]]*?)\]?:(\d+)$/.exec(incoming.url ?? '') ?? [];
    const port = hosts.get(host);
    if (port === undefined) return client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    const isTls = certificate !== undefined && asPort === '443';
    const inner = isTls
      ? new TLSSocket(client, { isServer: true, secureContext: createSecureContext(certificate) })
      : client;
    const outer = connect(port, '127.0.0.1');
    for (const socket of [inner, outer]) open.add(socket.on('error', () => client.destroy()));
    inner.pipe(outer).pipe(inner);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

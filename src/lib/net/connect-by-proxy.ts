import { connect, isIP, type Socket } from 'node:net';
import { onAbort } from '../async/on-abort.ts';

/** A connection through a proxy, or why there is none. The message names the proxy's host, never its password. */
type Tunnel = Readonly<{ ok: true; socket: Socket } | { ok: false; message: string }>;

const headerLimit = 16_384;

/**
 * Asks a proxy by CONNECT for a connection to a host or address (RFC 9110, 9.3.6). Nothing after the proxy's answer is
 * read.
 */
export function connectByProxy(
  proxy: URL,
  { host, port }: Readonly<{ host: string; port: number }>,
  signal: AbortSignal,
): Promise<Tunnel> {
  const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const noAnswer: Tunnel = { ok: false, message: `the proxy ${proxy.host} did not answer` };
  if (signal.aborted) return Promise.resolve(noAnswer);
  const socket = openLine(proxy);
  return new Promise((resolve) => {
    let head = Buffer.alloc(0);
    const settle = (tunnel: Tunnel): void => {
      stopListening();
      socket.off('error', failed).off('close', failed).off('readable', read);
      if (!tunnel.ok) socket.on('error', () => undefined).destroy();
      resolve(tunnel);
    };
    const failed = (): void => settle({ ok: false, message: `the proxy ${proxy.host} takes no connection` });
    const read = (): void => {
      for (let chunk: unknown = socket.read(); chunk !== null; chunk = socket.read()) {
        head = Buffer.concat([head, chunk as Buffer]);
        const end = head.indexOf('\r\n\r\n');
        if (end === -1 && head.length <= headerLimit) continue;
        const [line = ''] = head.toString('latin1').split('\r\n', 1);
        const status = /^HTTP\/1\.\d (\d{3})/.exec(line)?.[1] ?? '';
        if (end === -1 || !/^2/.test(status))
          return settle({ ok: false, message: refusal(proxy, target, status) });
        const rest = head.subarray(end + 4);
        if (rest.length > 0) socket.unshift(rest);
        return settle({ ok: true, socket });
      }
    };
    const stopListening = onAbort(signal, () => settle(noAnswer));
    socket.on('error', failed).on('close', failed).on('readable', read);
    const login = loginOf(proxy);
    const lines = [`CONNECT ${target} HTTP/1.1`, `Host: ${target}`, ...login, '', ''];
    socket.write(lines.join('\r\n'));
  });
}

function openLine({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (protocol === 'http:') return connect({ host, port: port === '' ? 80 : Number(port), noDelay: true });
  const servername = isIP(host) === 0 ? host : undefined;
  return process.getBuiltinModule('node:tls').connect({
    host,
    port: port === '' ? 443 : Number(port),
    servername,
    ALPNProtocols: ['http/1.1'],
  });
}

function loginOf({ username, password }: URL): readonly string[] {
  if (username === '' && password === '') return [];
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return [`Proxy-Authorization: Basic ${Buffer.from(login).toString('base64')}`];
}

function refusal({ host }: URL, target: string, status: string): string {
  if (status === '407') return `the proxy ${host} wants another user or password`;
  return `the proxy ${host} refused ${target}${status === '' ? '' : ` (${status})`}`;
}

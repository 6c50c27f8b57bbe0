import { BlockList, isIP } from 'node:net';

type Environment = Readonly<Record<string, string | undefined>>;

export type Destination = Readonly<{
  protocol: 'http:' | 'https:';
  /** A name or an address, without brackets. */
  host: string;
  port: number;
}>;

/** Proxies of the environment. A `no` entry without a port holds for all ports. */
export type Proxies = Readonly<{
  http?: URL;
  https?: URL;
  no: readonly Readonly<{ host: string; port?: number }>[];
}>;

/**
 * Reads HTTP_PROXY, HTTPS_PROXY and NO_PROXY. Lower case takes precedence, as in curl. Without HTTPS_PROXY the other
 * one is used. Throws an Error that does not quote the address, which may contain a password.
 */
export function proxiesOf(env: Environment): Proxies {
  const http = proxyIn(env, 'http_proxy');
  const words = (env['no_proxy'] || env['NO_PROXY'] || '').split(/[\s,]+/).filter((word) => word !== '');
  return { http, https: proxyIn(env, 'https_proxy') ?? http, no: words.map(readEntry) };
}

/** The proxy to use for a destination; undefined if there is none. This machine itself is always reached directly. */
export function proxyFor({ protocol, host, port }: Destination, proxies: Proxies): URL | undefined {
  const proxy = protocol === 'https:' ? proxies.https : proxies.http;
  if (proxy === undefined) return undefined;
  const name = host.toLowerCase().replace(/\.$/, '');
  const isNamed = [...thisMachine, ...proxies.no].some(
    (entry) => (entry.port ?? port) === port && covers(entry.host, name),
  );
  return isNamed ? undefined : proxy;
}

/** The proxy to use for a URL; undefined if there is none. */
export function proxyForUrl(url: URL, proxies: Proxies): URL | undefined {
  const protocol = /^(?:https|wss):$/.test(url.protocol) ? 'https:' : 'http:';
  const port = url.port === '' ? (protocol === 'https:' ? 443 : 80) : Number(url.port);
  return proxyFor({ protocol, host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port }, proxies);
}

/**
 * NO_PROXY for Node's `fetch`, which knows no ranges. Those of `addresses`, which are to be reached, are listed if a
 * range contains them.
 */
export function noProxyText(proxies: Proxies, addresses: readonly string[]): string {
  if (proxies.no.some(({ host }) => host === '*')) return '*';
  const entries = [...thisMachine, ...proxies.no].flatMap((entry): readonly Proxies['no'][number][] =>
    entry.host.includes('/')
      ? addresses.filter((address) => covers(entry.host, address)).map((host) => ({ ...entry, host }))
      : [entry],
  );
  return entries
    .map(
      ({ host, port }) => `${isIP(host) === 6 ? `[${host}]` : host}${port === undefined ? '' : `:${port}`}`,
    )
    .join();
}

const thisMachine: Proxies['no'] = ['localhost', '127.0.0.1', '::1'].map((host) => ({ host }));

function proxyIn(env: Environment, name: string): URL | undefined {
  const upper = name.toUpperCase();
  const written = (env[name] || env[upper])?.trim();
  if (written === undefined || written === '') return undefined;
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(written) ? written : `http://${written}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw new Error(
      `${upper} is no address of an HTTP proxy: write http://HOST:PORT or https://HOST:PORT. SOCKS is not supported.`,
    );
  return url;
}

/**
 * Reads an entry of NO_PROXY: `name`, `.name`, `*.name`, an address or a range such as `10.0.0.0/8`, each perhaps with
 * a port, or `*`.
 */
function readEntry(word: string): Proxies['no'][number] {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d+))?$/.exec(word) ?? [];
  const host = (bracketed ?? plain ?? word).toLowerCase();
  return {
    host: host.replace(/^\*?\.(?=.)/, '').replace(/\.$/, ''),
    port: port === undefined ? undefined : Number(port),
  };
}

function covers(entry: string, host: string): boolean {
  if (entry === '*' || entry === host) return true;
  const family = isIP(host);
  if (family === 0) return isIP(entry) === 0 && host.endsWith(`.${entry}`);
  return rangeOf(entry)?.check(host, family === 4 ? 'ipv4' : 'ipv6') === true;
}

/**
 * The range of an address or `ADDRESS/BITS`; undefined if the text is neither. IPv4 inside of IPv6 counts as what it
 * is.
 */
export function rangeOf(text: string): BlockList | undefined {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  const most = family === 4 ? 32 : 128;
  if (family === 0 || more.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined;
  const count = bits === undefined ? most : Number(bits);
  if (count > most) return undefined;
  const list = new BlockList();
  list.addSubnet(address, count, family === 4 ? 'ipv4' : 'ipv6');
  return list;
}

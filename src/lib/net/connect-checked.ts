import { lookup as systemLookup } from 'node:dns';
import { connect, isIP, BlockList, type Socket } from 'node:net';
import { connectByProxy } from './connect-by-proxy.ts';
import type { Destination } from './proxy-for.ts';
import { onAbort, untilAborted } from '../async/on-abort.ts';

/** All unicast IPv6 (RFC 4291), which excludes loopback, unique local addresses and NAT64. */
const assigned = blockList([['2000::', 3]]);

/** IANA's special-purpose registries, and services of clouds. */
const refused = blockList([
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // shared by carriers (CGNAT); 100.100.100.200 is a metadata service
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // Azure's own services for its machines
  ['169.254.0.0', 16], // link-local, the usual metadata address
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments; 192.0.0.192 is a metadata service
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
  ['2001::', 23], // protocol assignments; Teredo is 2001::/32
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4
  ['3ffe::', 16], // the first test network, given back
  ['3fff::', 20], // documentation
]);

export type HostAddress = Readonly<{ address: string; family: 4 | 6 }>;

type Lookup = (host: string) => Promise<readonly HostAddress[]>;

/** How connections leave this machine, and where they may go. */
export type WayOut = Readonly<{
  /** Whether this address of the host may be reached; default: only the public internet. */
  mayReach?: (address: string, host: string) => boolean;
  /** The proxy to use; undefined if there is none. */
  proxy?: (to: Destination) => URL | undefined;
  /**
   * If true, the proxy gets the host's name instead of a checked address, also for names that are unknown here. Then
   * the proxy decides what may be reached.
   */
  proxyResolves?: boolean;
}>;

/** How connections reach other hosts, whichever host it is. */
export type ReachOptions = WayOut &
  Readonly<{
    lookup?: Lookup;
    /** Milliseconds for resolving and connecting together; default 10 s. */
    timeoutMs?: number;
  }>;

export type ConnectOptions = ReachOptions &
  Readonly<{
    /** Which of the proxies is asked; default `https:`, as for any tunnel. */
    protocol?: Destination['protocol'];
    signal?: AbortSignal;
  }>;

type Connected =
  | Readonly<{ ok: true; socket: Socket }>
  /** The message names the host, never its address. */
  | Readonly<{
      ok: false;
      code: 'refused' | 'not_found' | 'unreachable' | 'timeout' | 'cancelled';
      message: string;
    }>;

/**
 * Resolves a host once, checks every address and connects only to those, whatever DNS says later (T3, T9). One bad
 * address refuses all of them. A proxy gets a checked address, too, so it has nothing to resolve.
 */
export async function connectChecked(
  host: string,
  port: number,
  options: ConnectOptions = {},
): Promise<Connected> {
  const { mayReach = isPublicAddress, lookup = lookUp, timeoutMs = 10_000, signal } = options;
  const { protocol = 'https:', proxy: proxyTo, proxyResolves = false } = options;
  const proxy = proxyTo?.({ protocol, host, port });
  const timeout = AbortSignal.timeout(timeoutMs);
  const stop = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  const stopped = (): Connected =>
    signal?.aborted === true
      ? { ok: false, code: 'cancelled', message: `the connection to ${host} was given up` }
      : { ok: false, code: 'timeout', message: `${host} did not answer within ${timeoutMs / 1_000} s` };

  const found = await untilAborted(addressesOf(host, lookup), stop).catch(() => undefined);
  if (found === undefined) return stopped();
  if (found.length === 0 && (proxy === undefined || !proxyResolves)) {
    const hint = proxy === undefined ? '' : ' here, and the proxy is not asked to look names up';
    return { ok: false, code: 'not_found', message: `there is no host ${host}${hint}` };
  }
  if (!found.every(({ address }) => mayReach(address, host))) {
    return {
      ok: false,
      code: 'refused',
      message: `${host} leads to an address that is not on the public internet`,
    };
  }
  if (proxy !== undefined) {
    const [first = { address: host }] = found;
    const to = { host: proxyResolves ? host : first.address, port };
    const tunnel = await connectByProxy(proxy, to, stop);
    if (tunnel.ok) return tunnel;
    return stop.aborted ? stopped() : { ...tunnel, code: 'unreachable' };
  }
  const socket = await openSocket(found, port, stop);
  if (socket !== undefined) return { ok: true, socket };
  if (stop.aborted) return stopped();
  return { ok: false, code: 'unreachable', message: `${host} takes no connection on port ${port}` };
}

/** Rejects never: a host that can't be looked up has no address. */
async function addressesOf(host: string, lookup: Lookup): Promise<readonly HostAddress[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family: family === 4 ? 4 : 6 }];
  try {
    return await lookup(host);
  } catch {
    return [];
  }
}

function lookUp(host: string): Promise<readonly HostAddress[]> {
  return new Promise((resolve, reject) => {
    systemLookup(host, { all: true, order: 'verbatim' }, (error, found) => {
      if (error !== null) reject(error);
      else resolve(found.map(({ address }) => ({ address, family: isIP(address) === 4 ? 4 : 6 })));
    });
  });
}

function openSocket(
  found: readonly HostAddress[],
  port: number,
  signal: AbortSignal,
): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const [first] = found;
    if (first === undefined || signal.aborted) return resolve(undefined);
    const socket = connect({
      host: found.length === 1 ? first.address : 'checked.invalid',
      port,
      autoSelectFamily: found.length > 1,
      noDelay: true,
      lookup: (_host, _options, callback) => callback(null, [...found]),
    });
    const settle = (value: Socket | undefined): void => {
      stopListening();
      socket.off('connect', onConnect).off('error', giveUp);
      if (value === undefined) socket.on('error', () => undefined).destroy();
      resolve(value);
    };
    const giveUp = (): void => settle(undefined);
    const onConnect = (): void => settle(socket);
    const stopListening = onAbort(signal, giveUp);
    socket.on('connect', onConnect).on('error', giveUp);
  });
}

/**
 * Whether an address is on the public internet (T3, T9). This machine, its networks, cloud metadata, reserved ranges,
 * and IPv6 that contains IPv4 or a tunnel are not.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !refused.check(address, 'ipv4');
  if (family !== 6 || address.includes('%')) return false;
  return assigned.check(address, 'ipv6') && !refused.check(address, 'ipv6') && !isIsatap(address);
}

function blockList(ranges: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of ranges) {
    list.addSubnet(address, bits, address.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** Whether an IPv6 address is one of ISATAP (RFC 5214): `0000:5efe` or `0200:5efe`, then an IPv4 address. */
function isIsatap(address: string): boolean {
  const written = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = written.split('::').map((part) => part.split(':').filter((word) => word !== ''));
  const gap = tail === undefined ? [] : Array<string>(8 - head.length - tail.length).fill('0');
  const [fourth, fifth] = [...head, ...gap, ...(tail ?? [])].slice(4, 6);
  return (fourth === '0' || fourth === '200') && fifth === '5efe';
}

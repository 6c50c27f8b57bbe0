import { BlockList, isIP } from 'node:net';

/**
 * Whether this resolved address is on the public internet, so that a skill or a page may lead there (T3, T9). Everything
 * else is refused: this machine, its networks, cloud metadata, reserved ranges, and each IPv6 form that carries an IPv4
 * address or a tunnel. What is no plain IP address (a name, a zone behind `%`) is refused too.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !refused.check(address, 'ipv4');
  if (family !== 6 || address.includes('%')) return false;
  return assigned.check(address, 'ipv6') && !refused.check(address, 'ipv6') && !isIsatap(address);
}

/** The whole of IPv6 that is given out as unicast (RFC 4291): loopback, unique local, NAT64 and the like lie outside. */
const assigned = blockList([['2000::', 3]]);

/** From the IANA registries of special-purpose addresses, and what clouds put in public ranges. */
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

function blockList(ranges: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [address, bits] of ranges) {
    list.addSubnet(address, bits, address.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** A tunnel (RFC 5214): whatever the prefix, the last 64 bits are `0000:5efe` or `0200:5efe` and an IPv4 address. */
function isIsatap(address: string): boolean {
  const written = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = written.split('::').map((part) => part.split(':').filter((word) => word !== ''));
  const gap = tail === undefined ? [] : Array<string>(8 - head.length - tail.length).fill('0');
  const [fourth, fifth] = [...head, ...gap, ...(tail ?? [])].slice(4, 6);
  return (fourth === '0' || fourth === '200') && fifth === '5efe';
}

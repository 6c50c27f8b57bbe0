import { isIP, BlockList } from 'node:net';
import { isPublicAddress } from './connect-checked.ts';
import { matchesHost } from './judge-target.ts';
import { rangeOf } from './proxy-for.ts';

/** Services that return a machine's credentials: those of AWS, GCP, Azure, Oracle, Alibaba and others. */
const metadata = listOf([
  '169.254.0.0/16',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd20:ce::254',
  'fe80::/10',
]);
/** Ranges that name no host: "this machine", multicast and broadcast. */
const never = listOf(['0.0.0.0/8', '224.0.0.0/3', '::/128', 'ff00::/8']);
/** The widest private range of each family has this many bits. */
const fewestBits = { 4: 8, 6: 7 } as const;

/** What is wrong with an entry of `private_networks`; undefined if nothing is. */
export function wrongNetwork(entry: string): string | undefined {
  if (rangeOf(entry) === undefined)
    return matchesHost([entry], entry.replace(/^\*\./, 'a.'))
      ? undefined
      : 'write an address range such as "10.0.0.0/8", an address, or a host name such as "jira.corp.example"';
  const [address = '', bits] = entry.split('/');
  const fewest = isIP(address) === 4 ? fewestBits[4] : fewestBits[6];
  return bits !== undefined && Number(bits) < fewest
    ? `the range is wider than any private network: write /${fewest} or more`
    : undefined;
}

/**
 * Returns whether `address`, to which `host` leads, may be reached: the public internet, and what `networks` allows
 * (T3, T9). A name allows what this host leads to, a range every host in it. Metadata services must be listed by their
 * address.
 */
export function mayReachWith(networks: readonly string[]): (address: string, host: string) => boolean {
  const ranges = networks.flatMap((entry) => rangeOf(entry) ?? []);
  const exact = networks.filter((entry) => isIP(entry) !== 0).map((entry) => listOf([entry]));
  const names = networks.filter((entry) => rangeOf(entry) === undefined);
  return (address, host) => {
    if (isPublicAddress(address)) return true;
    if (address.includes('%') || holds(never, address)) return false;
    if (holds(metadata, address)) return exact.some((list) => holds(list, address));
    return ranges.some((list) => holds(list, address)) || matchesHost(names, host);
  };
}

function holds(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

function listOf(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

import { isIP } from 'node:net';

export type Target =
  | Readonly<{ ok: true; url: URL; host: string; port: number }>
  /** A refusal in ASCII, one line each. `reason` is for the status line, and `message` says what to do. */
  | Readonly<{ ok: false; status: 400 | 403; reason: string; message: string }>;

type Allowance = Readonly<{
  hosts: readonly string[];
  ports: readonly number[];
  howToAllow(host: string): string;
  /** Which addresses may be reached if they are declared; default: none. */
  mayReach?: (address: string, host: string) => boolean;
}>;

/**
 * Whether an address may be reached: declared hosts on allowed ports, and an IP address only if exactly that one is
 * declared (T9).
 */
export function judgeTarget(url: URL, { hosts, ports, howToAllow, mayReach }: Allowance): Target {
  const { host, isAddress } = hostOf(url);
  const mayBe = !isAddress || mayReach?.(host, host) === true;
  const declared = mayBe ? hosts.map(readTarget).filter((one) => isOf(one.host, host, isAddress)) : [];
  if (isAddress && declared.length === 0) {
    return {
      ok: false,
      status: 403,
      reason: 'addresses are refused, use the host name',
      message:
        'This is an IP address, and only declared host names can be reached. Use the name of the host.',
    };
  }
  if (declared.length === 0) {
    return {
      ok: false,
      status: 403,
      reason: `${host.slice(0, 100)} is not declared`,
      message: `${host} is not declared. ${howToAllow(host)}`,
    };
  }
  const port = url.port === '' ? defaultPort(url) : Number(url.port);
  const open = [...new Set(declared.flatMap((one) => one.port ?? ports))];
  if (!open.includes(port)) {
    return {
      ok: false,
      status: 403,
      reason: `port ${port} is refused`,
      message: `${host} can be reached on the ports ${open.join(' and ')}, not on ${port}. ${howToAllow(`${host}:${port}`)}`,
    };
  }
  return { ok: true, url, host: host.replace(/\.$/, ''), port };
}

/** Reads `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`. Without a port, those of web servers are meant. */
export function readTarget(written: string): Readonly<{ host: string; port?: number }> {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d{1,5}))?$/.exec(written) ?? [];
  return { host: bracketed ?? plain ?? written, port: port === undefined ? undefined : Number(port) };
}

function isOf(declared: string, host: string, isAddress: boolean): boolean {
  return isAddress
    ? isIP(declared) !== 0 &&
        hostOf(new URL(`http://${isIP(declared) === 6 ? `[${declared}]` : declared}`)).host === host
    : matchesHost([declared], host);
}

function defaultPort({ protocol }: URL): number {
  return protocol === 'https:' ? 443 : 80;
}

/**
 * Whether a host matches one of the patterns. `*.NAME` matches everything below NAME; `*` and addresses match nothing
 * (T9).
 */
export function matchesHost(patterns: readonly string[], host: string): boolean {
  const name = normal(host);
  if (!isHostName(name)) return false;
  return patterns.some((written) => {
    const pattern = normal(written);
    const below = pattern.startsWith('*.') ? pattern.slice(1) : undefined;
    if (!isHostName(below?.slice(1) ?? pattern)) return false;
    return below === undefined ? name === pattern : name.length > below.length && name.endsWith(below);
  });
}

/**
 * The host of a URL without brackets. `isAddress` is true for any spelling of an IP address (`2130706433`, `0x7f.1`),
 * which URL normalizes.
 */
export function hostOf(url: URL): Readonly<{ host: string; isAddress: boolean }> {
  const host = url.hostname.replace(/^\[(.*)\]$/s, '$1');
  return { host, isAddress: isIP(host) !== 0 };
}

function normal(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}

/** Whether a text is a host name. Programs read `1.2.3` as IPv4. */
function isHostName(name: string): boolean {
  return (
    name.length <= 253 &&
    /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*(?=[a-z0-9_-]*[a-z])[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(
      name,
    ) &&
    !/(?:^|\.)0x[0-9a-f]*$/.test(name)
  );
}

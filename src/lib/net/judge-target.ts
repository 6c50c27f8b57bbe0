import { hostOf, matchesHost } from './matches-host.ts';

/** Where a proxied request wants to go, if it may. */
export type Target =
  | Readonly<{ ok: true; url: URL; host: string; port: number }>
  /** `reason` is short enough for a status line; `message` says what to do. ASCII, one line each. */
  | Readonly<{ ok: false; status: 400 | 403; reason: string; message: string }>;

/** What may be reached through the proxy. */
export type Allowance = Readonly<{
  hosts: readonly string[];
  ports: readonly number[];
  /** What somebody has to write so that this host may be reached: one ASCII sentence. */
  howToAllow(host: string): string;
}>;

/** Judges where a request to the proxy wants to go: declared names on the web's ports, never an address (T9). */
export function judgeTarget(url: URL, { hosts, ports, howToAllow }: Allowance): Target {
  const { host, isAddress } = hostOf(url);
  if (isAddress) {
    return {
      ok: false,
      status: 403,
      reason: 'addresses are refused, use the host name',
      message:
        'This is an IP address, and only declared host names can be reached. Use the name of the host.',
    };
  }
  if (!matchesHost(hosts, host)) {
    return {
      ok: false,
      status: 403,
      reason: `${host.slice(0, 100)} is not declared`,
      message: `${host} is not declared. ${howToAllow(host)}`,
    };
  }
  const port = url.port === '' ? defaultPort(url) : Number(url.port);
  if (!ports.includes(port)) {
    const written = ports.join(' and ');
    return {
      ok: false,
      status: 403,
      reason: `port ${port} is refused`,
      message: `${host} can be reached on the ports ${written}, not on ${port}. Other ports cannot be declared.`,
    };
  }
  return { ok: true, url, host: host.replace(/\.$/, ''), port };
}

function defaultPort({ protocol }: URL): number {
  return protocol === 'https:' ? 443 : 80;
}

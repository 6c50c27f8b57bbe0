import { lookup as systemLookup } from 'node:dns';
import { connect, isIP, type Socket } from 'node:net';
import { isPublicAddress } from './is-public-address.ts';

/** One address that a name stands for. */
export type HostAddress = Readonly<{ address: string; family: 4 | 6 }>;

/** Finds all addresses of a name; rejects where there are none. */
export type Lookup = (host: string) => Promise<readonly HostAddress[]>;

/** How connections are made; everything has a safe default. */
export type ConnectOptions = Readonly<{
  /** Whether an address may be connected to, instead of `isPublicAddress`: for tests on loopback. */
  mayReach?: (address: string) => boolean;
  lookup?: Lookup;
  /** For resolving and connecting together; 10 s. */
  timeoutMs?: number;
  signal?: AbortSignal;
}>;

export type Connected =
  | Readonly<{ ok: true; socket: Socket }>
  /** `message` is one clause that names the host, never an address it stands for. */
  | Readonly<{
      ok: false;
      code: 'refused' | 'not_found' | 'unreachable' | 'timeout' | 'cancelled';
      message: string;
    }>;

/**
 * Resolves `host` (a name, or an address in its plain form) once, checks every address it stands for, and connects to
 * those very addresses: what the name stands for a moment later changes nothing (T3, T9). One that may not be reached
 * refuses them all.
 */
export async function connectChecked(
  host: string,
  port: number,
  { mayReach = isPublicAddress, lookup = lookUp, timeoutMs = 10_000, signal }: ConnectOptions = {},
): Promise<Connected> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const stop = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  const stopped = (): Connected =>
    signal?.aborted === true
      ? { ok: false, code: 'cancelled', message: `the connection to ${host} was given up` }
      : { ok: false, code: 'timeout', message: `${host} did not answer within ${timeoutMs / 1_000} s` };

  const found = await Promise.race([addressesOf(host, lookup), aborted(stop)]);
  if (found === 'aborted') return stopped();
  if (found.length === 0) return { ok: false, code: 'not_found', message: `there is no host ${host}` };
  if (!found.every(({ address }) => mayReach(address))) {
    return {
      ok: false,
      code: 'refused',
      message: `${host} leads to an address that is not on the public internet`,
    };
  }
  const socket = await openSocket(found, port, stop);
  if (socket !== undefined) return { ok: true, socket };
  if (stop.aborted) return stopped();
  return { ok: false, code: 'unreachable', message: `${host} takes no connection on port ${port}` };
}

async function addressesOf(host: string, lookup: Lookup): Promise<readonly HostAddress[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family: family === 4 ? 4 : 6 }];
  return lookup(host).then(
    (found) => found,
    () => [],
  );
}

function lookUp(host: string): Promise<readonly HostAddress[]> {
  return new Promise((resolve, reject) => {
    systemLookup(host, { all: true, order: 'verbatim' }, (error, found) => {
      if (error !== null) reject(error);
      else resolve(found.map(({ address }) => ({ address, family: isIP(address) === 4 ? 4 : 6 })));
    });
  });
}

/** Tries the addresses as they come, the next one where the last takes long; nothing where none takes a connection. */
function openSocket(
  found: readonly HostAddress[],
  port: number,
  signal: AbortSignal,
): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const [first] = found;
    if (first === undefined || signal.aborted) return resolve(undefined);
    const socket = connect({
      // A made-up name, so that only `lookup` below can say where it leads.
      host: found.length === 1 ? first.address : 'checked.invalid',
      port,
      autoSelectFamily: found.length > 1,
      noDelay: true,
      lookup: (_host, _options, callback) => callback(null, [...found]),
    });
    const settle = (value: Socket | undefined): void => {
      signal.removeEventListener('abort', giveUp);
      socket.off('connect', onConnect).off('error', giveUp);
      if (value === undefined) socket.on('error', () => undefined).destroy();
      resolve(value);
    };
    const giveUp = (): void => settle(undefined);
    const onConnect = (): void => settle(socket);
    signal.addEventListener('abort', giveUp);
    socket.on('connect', onConnect).on('error', giveUp);
  });
}

function aborted(signal: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('aborted');
    else signal.addEventListener('abort', () => resolve('aborted'), { once: true });
  });
}

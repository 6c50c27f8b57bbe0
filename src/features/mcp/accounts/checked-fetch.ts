import { wayOutOf } from '../../../config/way-out.ts';
import type { Config } from '../../../config/complete-config.ts';
import { httpRequest } from '../../../lib/net/http-request.ts';

/** `fetch` as far as the SDK's sign-in uses it. */
export type CheckedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const answerLimit = 1024 * 1024;
const longestMs = 10_000;

export type Reach = Readonly<{
  fetch: CheckedFetch;
  /** Whether codes and tokens may be sent there: encrypted, within this machine, or as the operator wrote it. */
  isSafe(url: URL): boolean;
}>;

/**
 * How to reach addresses that a server names, such as those of its authorization server (X8): only the
 * public internet, `[sandbox] private_networks`, and `trusted` origins, which the operator wrote into the config. Plain
 * HTTP goes to trusted origins and to this machine only. `fetch` follows no redirect, and throws with a reason that names the
 * host.
 */
export function reachOf(config: () => Config, trusted: readonly string[]): Reach {
  const origins = trusted.map((address) => new URL(address).origin);
  const isSafe = (url: URL): boolean => origins.includes(url.origin) || isEncrypted(url);
  const fetch: CheckedFetch = async (to, init = {}) => {
    const url = new URL(to);
    const isOwn = origins.includes(url.origin);
    if (!isSafe(url)) throw new Error(`${url.host} is not asked without encryption`);
    const { method, headers, body, signal } = init;
    const wayOut = wayOutOf(config());
    const timeout = AbortSignal.timeout(longestMs);
    const came = await httpRequest(url, {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      body: body === undefined || body === null ? undefined : String(body as string | URLSearchParams),
      maxBytes: answerLimit,
      connect: { ...wayOut, mayReach: isOwn ? () => true : wayOut.mayReach, timeoutMs: longestMs },
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    if (!came.ok) throw new Error(timeout.aborted ? `${url.host} did not answer in time` : came.message);
    if (came.cut) throw new Error(`${url.host} answered with more than ${answerLimit} bytes`);
    const { status, headers: given } = came;
    const answer = new Headers();
    for (const [name, value] of Object.entries(given))
      if (value !== undefined && name !== 'content-encoding') answer.set(name, [value].flat().join(', '));
    return new Response(bodyless.has(status) ? null : new Uint8Array(came.body), { status, headers: answer });
  };
  return { fetch, isSafe };
}

/** Statuses whose answers may have no body. */
const bodyless: ReadonlySet<number> = new Set([204, 205, 304]);

/** Whether what is sent to the address stays secret on its way: TLS, or a connection within this machine. */
function isEncrypted({ protocol, hostname }: URL): boolean {
  return (
    protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname))
  );
}

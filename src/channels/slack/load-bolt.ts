import type * as Bolt from '@slack/bolt';
import type { Dispatcher } from 'undici';
import { noProxyText, proxiesOf } from '../../lib/net/proxy-for.ts';

/** Loads Bolt, which takes a sixth of a second and 12 MB, so only a bot with Slack does it (B4). */
export async function loadBolt(): Promise<typeof Bolt> {
  return import('@slack/bolt');
}

/** A dispatcher for sockets if there is a proxy, because the SDK's own knows none. The caller destroys it. */
export async function proxyDispatcher(): Promise<Dispatcher | undefined> {
  const proxies = proxiesOf(process.env);
  if (proxies.https === undefined) return undefined;
  // The package from which the SDK's own sockets come.
  const { EnvHttpProxyAgent } = await import('undici');
  return new EnvHttpProxyAgent({
    httpProxy: proxies.http?.href ?? '',
    httpsProxy: proxies.https.href,
    noProxy: noProxyText(proxies, []),
    // A socket needs a tunnel even without TLS.
    proxyTunnel: true,
    allowH2: false,
  });
}

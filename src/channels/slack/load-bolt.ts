import type * as Bolt from '@slack/bolt';
import type { Dispatcher } from 'undici';
import { noProxyText, proxiesOf } from '../../lib/net/proxy-for.ts';

/** Bolt costs a sixth of a second and 12 MB: only a bot with Slack loads it (B4). */
export async function loadBolt(): Promise<typeof Bolt> {
  return import('@slack/bolt');
}

/** For sockets, if there is a proxy: the SDK's own way knows none. The caller destroys it. */
export async function proxyDispatcher(): Promise<Dispatcher | undefined> {
  const proxies = proxiesOf(process.env);
  if (proxies.https === undefined) return undefined;
  // The package that the SDK's own sockets come from.
  const { EnvHttpProxyAgent } = await import('undici');
  return new EnvHttpProxyAgent({
    httpProxy: proxies.http?.href ?? '',
    httpsProxy: proxies.https.href,
    noProxy: noProxyText(proxies, []),
    // A socket needs a tunnel, also without TLS.
    proxyTunnel: true,
    allowH2: false,
  });
}

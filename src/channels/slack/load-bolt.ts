import type * as Bolt from '@slack/bolt';
import type { Dispatcher } from 'undici';
import { noProxyText, proxiesOf } from '../../lib/net/proxy-for.ts';

export type BoltParts = Pick<typeof Bolt, 'App' | 'HTTPReceiver' | 'SocketModeReceiver'> &
  Readonly<{
    /** For sockets, if there is a proxy: the SDK's own way knows none. The caller destroys it. */
    proxyDispatcher(): Promise<Dispatcher | undefined>;
  }>;

/** A sixth of a second and 8 MB. The front door loads Express too: 4 MB (B4). */
export async function loadBolt(): Promise<BoltParts> {
  const [app, http, socket] = await Promise.all([
    import('@slack/bolt/dist/App.js'),
    import('@slack/bolt/dist/receivers/HTTPReceiver.js'),
    import('@slack/bolt/dist/receivers/SocketModeReceiver.js'),
  ]);
  return {
    App: app.default.default,
    HTTPReceiver: http.default.default,
    SocketModeReceiver: socket.default.default,
    proxyDispatcher,
  };
}

async function proxyDispatcher(): Promise<Dispatcher | undefined> {
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

import type { WayOut } from '../lib/net/connect-checked.ts';
import { mayReachWith } from '../lib/net/private-networks.ts';
import { proxiesOf, proxyFor } from '../lib/net/proxy-for.ts';
import type { Config } from './complete-config.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Environment variables that name proxies, as `[network] proxy` sets them; empty if it is not set. */
export function proxyVariables({ proxy }: Config['network']): Readonly<Record<string, string>> {
  return proxy === undefined
    ? {}
    : { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, http_proxy: proxy, https_proxy: proxy };
}

/** How requests leave the machine that people and skills cause: for web pages, and for hosts of scripts (T3, T9). */
export function wayOutOf(config: Config, env: Environment = process.env): WayOut {
  const proxies = proxiesOf({ ...env, ...proxyVariables(config.network) });
  return {
    mayReach: mayReachWith(config.sandbox.privateNetworks),
    proxy: (to) => proxyFor(to, proxies),
    proxyResolves: config.network.proxyResolves,
  };
}

import { isIP } from 'node:net';
import type { Config } from '../config/complete-config.ts';
import { proxyVariables } from '../config/way-out.ts';
import { OperatorError } from '../core/errors.ts';
import { noProxyText, proxiesOf } from '../lib/net/proxy-for.ts';
import { trustCertificates } from './trust-certificates.ts';

/**
 * Decides how this process reaches other hosts (G5): which proxies it uses, from the environment or `[network] proxy`,
 * and which certificates it trusts besides the usual ones. `fetch`, git and all programs that are started follow.
 * Throws OperatorError.
 */
export function useNetwork(config: Pick<Config, 'network'> & Partial<Config>): void {
  Object.assign(process.env, proxyVariables(config.network));
  const { http, https, ...rest } = readProxies();
  if (http !== undefined || https !== undefined) {
    const NO_PROXY = noProxyText({ http, https, ...rest }, addressesIn(config));
    // An `import` of `node:http` would load `fetch`, which takes 80 ms.
    process.getBuiltinModule('node:http').setGlobalProxyFromEnv({
      HTTP_PROXY: http?.href,
      HTTPS_PROXY: https?.href,
      NO_PROXY,
    });
  }
  if (config.network.caFile !== undefined) trustCertificates(config.network.caFile, '[network] ca_file');
}

function readProxies() {
  try {
    return proxiesOf(process.env);
  } catch (error) {
    throw new OperatorError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Addresses (IP) that the config names. Node compares these with NO_PROXY, and knows no ranges there. */
function addressesIn(value: unknown): readonly string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(addressesIn);
  if (typeof value !== 'string' || !/^https?:/.test(value)) return [];
  const host = URL.parse(value)?.hostname.replace(/^\[(.*)\]$/, '$1') ?? '';
  return isIP(host) === 0 ? [] : [host];
}

import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Config } from '../config/complete-config.ts';
import { proxyVariables } from '../config/way-out.ts';
import { OperatorError } from '../core/errors.ts';
import { operatorText } from '../core/operator-text.ts';
import { noProxyText, proxiesOf } from '../lib/net/proxy-for.ts';

/**
 * Decides how this process gets out (G5): proxies of the environment or of `[network] proxy`, and certificates that are trusted
 * besides the usual ones. `fetch`, git and all that is started follow. Throws OperatorError.
 */
export function useNetwork(config: Pick<Config, 'network'> & Partial<Config>): void {
  Object.assign(process.env, proxyVariables(config));
  const { http, https, ...rest } = readProxies();
  if (http !== undefined || https !== undefined) {
    const NO_PROXY = noProxyText({ http, https, ...rest }, addressesIn(config));
    // `import` of `node:http` would load `fetch`: 80 ms.
    process.getBuiltinModule('node:http').setGlobalProxyFromEnv({
      HTTP_PROXY: http?.href,
      HTTPS_PROXY: https?.href,
      NO_PROXY,
    });
  }
  // Node has read this variable already, unless it comes from `.env`.
  const file = config.network.caFile ?? (process.env['NODE_EXTRA_CA_CERTS'] || undefined);
  if (file !== undefined) trust(file);
}

function readProxies() {
  try {
    return proxiesOf(process.env);
  } catch (error) {
    throw new OperatorError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Literal addresses that the config names: Node looks for these in NO_PROXY, and knows no ranges. */
function addressesIn(value: unknown): readonly string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(addressesIn);
  if (typeof value !== 'string' || !/^https?:/.test(value)) return [];
  const host = URL.parse(value)?.hostname.replace(/^\[(.*)\]$/, '$1') ?? '';
  return isIP(host) === 0 ? [] : [host];
}

function trust(file: string): void {
  const certificates = readCertificates(file);
  const all = [...getCACertificates('default'), ...certificates];
  setDefaultCACertificates(all);
  // git trusts one file and no more.
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-ca-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const bundle = path.join(folder, 'all.pem');
  writeFileSync(bundle, `${all.join('\n')}\n`, { mode: 0o600 });
  process.env['GIT_SSL_CAINFO'] = bundle;
}

function readCertificates(file: string): readonly string[] {
  const wrong = (why: string, cause?: unknown): OperatorError =>
    new OperatorError(`[network] ca_file ${file} ${why}: name a PEM file of certificates.`, { cause });
  let text: string;
  try {
    text = operatorText(readFileSync(file), file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw wrong(`can't be read (${String(error.code)})`, error);
  }
  const found = text.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) throw wrong('holds no certificate');
  for (const one of found)
    try {
      new X509Certificate(one);
    } catch (error) {
      throw wrong('holds a certificate that is damaged', error);
    }
  return found;
}

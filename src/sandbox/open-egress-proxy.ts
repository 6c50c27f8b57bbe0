import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createAllowProxy, type AllowProxyOptions } from '../lib/net/create-allow-proxy.ts';

/** Lets a command reach its skill's hosts from a namespace without network. */
export type EgressProxy = Readonly<{
  mounts: readonly Readonly<{ source: string; target: string }>[];
  env: Readonly<Record<string, string>>;
  argv: readonly string[];
  /** Removes the names on the host once they are mounted. */
  started(): void;
  refused(): readonly string[];
  close(): Promise<void>;
}>;

export type EgressProxyOptions = Pick<AllowProxyOptions, 'connect' | 'ports' | 'log'> &
  Readonly<{
    beside?: string;
  }>;

const folder = '/run/skillet';
const port = 3128;
/** How many refused hosts are remembered, and how many characters of each. */
const mostRefused = 5;
const longestRefused = 200;

/**
 * Opens a proxy on a Unix socket, with a forwarder on loopback inside and the usual variables for programs (T9). `node`
 * is its path inside.
 */
export async function openEgressProxy(
  hosts: readonly string[],
  node: string,
  { beside = tmpdir(), ...options }: EgressProxyOptions = {},
): Promise<EgressProxy> {
  const outside = mkdtempSync(path.join(beside, 'skillet-proxy-'));
  const remove = (): void => rmSync(outside, { recursive: true, force: true });
  const refused = new Set<string>();
  const proxy = await createAllowProxy({
    ...options,
    onRefused(asked, reason) {
      if (refused.size < mostRefused) refused.add(`${asked} (${reason})`.slice(0, longestRefused));
    },
    hosts,
    socketPath: path.join(outside, 'proxy.sock'),
  }).catch((error: unknown) => {
    remove();
    throw error;
  });
  const typed = import.meta.filename.endsWith('.ts');
  const forward = path.join(import.meta.dirname, typed ? 'forward-process.ts' : 'forward-process.js');
  const forwardSeen = `${folder}/forward.${typed ? 'mts' : 'mjs'}`;
  const url = `http://127.0.0.1:${port}`;
  const local = 'localhost,127.0.0.1';
  return {
    mounts: [
      { source: proxy.socketPath, target: `${folder}/proxy.sock` },
      { source: forward, target: forwardSeen },
    ],
    env: {
      ...{ HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url },
      ...{ NO_PROXY: local, no_proxy: local, NODE_USE_ENV_PROXY: '1' },
    },
    argv: [node, '--no-warnings', forwardSeen, String(port), `${folder}/proxy.sock`],
    started: remove,
    refused: () => [...refused],
    async close() {
      await proxy.close();
      remove();
    },
  };
}

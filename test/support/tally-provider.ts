import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { BridgeProvider } from '../../src/core/bridge-provider.ts';

const script = path.join(import.meta.dirname, 'providers/tally.py');

/** Python itself: what is called so may be a script that looks for it each time. */
function python(): string | undefined {
  const found = spawnSync('python3', ['-c', 'import sqlite3, sys; print(sys.executable)'], {
    encoding: 'utf8',
  });
  return found.status === 0 ? found.stdout.trim() : undefined;
}

/** Why the provider in Python can't be tested here; nothing where it can. */
export function tallyMissing(): string | undefined {
  if (python() === undefined) return 'python3 is not installed';
  const openssl = spawnSync('openssl', ['version'], { encoding: 'utf8' });
  if (!/^OpenSSL [3-9]/.test(openssl.stdout ?? '')) return 'openssl 3, which Python asks, is not installed';
  return undefined;
}

/** The provider in Python, with a folder of its own. */
export async function openTallyProvider(t: TestContext): Promise<BridgeProvider> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-tally-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  // -B: leaves nothing in the folder of the tests. -S: starts faster.
  const command = [python() ?? 'python3', '-B', '-S', script, folder];
  return { namespace: 'tally', command, timeoutSeconds: 20 };
}

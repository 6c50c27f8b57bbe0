import path from 'node:path';
import { systemClock, type Clock } from '../lib/clock.ts';
import { OperatorError } from '../core/errors.ts';
import type { Log } from '../lib/log.ts';
import { openEmbeddedStore } from './sqlite/open-embedded-store.ts';
import type { Store } from './store.ts';

/**
 * Opens the store of a URL: `sqlite:PATH` (relative to `baseDir`), `sqlite::memory:` or `postgres://…` (Q8). Throws
 * OperatorError, which never contains the URL, because it may hold a password.
 */
export async function openStore(
  url: string,
  {
    log = silent,
    clock = systemClock,
    baseDir = '.',
    until,
    onKilled,
  }: {
    log?: Log;
    clock?: Clock;
    baseDir?: string;
    /** If set, an unreachable PostgreSQL server is waited for until this is aborted. */
    until?: AbortSignal;
    /**
     * Called for an embedded store whose process was killed. `lost` says what is missing since; undefined if nothing
     * is.
     */
    onKilled?: (lost: string | undefined) => void;
  } = {},
): Promise<Store> {
  const [scheme, rest = ''] = split(url);
  if (scheme === 'postgres' || scheme === 'postgresql') {
    const { openPostgresStore } = await import('./postgres/open-postgres-store.ts');
    return openPostgresStore(url, { clock, log, until });
  }
  if (scheme !== 'sqlite' || rest === '' || rest.startsWith('//')) {
    throw new OperatorError(
      'The url under [store] names no store that can be opened. Write "sqlite:" and a path: url = "sqlite:./data/skillet.db", ' +
        'or the address of a PostgreSQL database: "postgres://USER:PASSWORD@HOST/DATABASE".',
    );
  }
  return openEmbeddedStore(rest === ':memory:' ? rest : path.resolve(baseDir, rest), {
    clock,
    log,
    onKilled,
  });
}

const silent: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

function split(url: string): readonly string[] {
  const colon = url.indexOf(':');
  return colon < 0 ? [url] : [url.slice(0, colon), url.slice(colon + 1)];
}

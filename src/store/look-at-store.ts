import { existsSync } from 'node:fs';
import { lookAtFile } from './sqlite/look-at-file.ts';

/** What is in a store, found out without changing it. `keys` are those of the namespace that was asked for. */
export type StoreLook = Readonly<
  | { state: 'absent' }
  | { state: 'ready' | 'older'; keys: readonly string[] }
  /** A process is using it, which `why` names. */
  | { state: 'locked'; why: string }
  | { state: 'unusable' | 'damaged'; why: string }
>;

/**
 * Looks at a store. It never throws, migrates or creates anything. With `mine`, the bot that runs may hold the lock.
 */
export async function lookAtStore(
  url: string,
  { namespace, mine, withinMs }: Readonly<{ namespace: string; mine: boolean; withinMs: number }>,
): Promise<StoreLook> {
  const file = /^sqlite:(.+)$/s.exec(url)?.[1];
  if (file === undefined) {
    const { lookAtDatabase } = await import('./postgres/look-at-database.ts');
    return lookAtDatabase(url, namespace, withinMs);
  }
  return existsSync(file) ? lookAtFile(file, namespace, mine) : { state: 'absent' };
}

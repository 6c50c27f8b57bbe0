import type { Config } from '../../config/complete-config.ts';
import { lostStore } from '../../audit/audit-files.ts';
import { lookAtStore, type StoreLook } from '../../store/look-at-store.ts';
import type { Readiness } from '../health/open-metrics.ts';
import { check, type Check, type Found } from './finding.ts';

/** How many milliseconds a database on the network may take. */
const patienceMs = 700;

/** Looks at the store. `isRunning`: a bot on this machine uses it. */
export function lookAtOwnStore({ store: { url } }: Config, isRunning: boolean): Promise<StoreLook> {
  return lookAtStore(url, { namespace: 'people', mine: isRunning, withinMs: patienceMs });
}

/** Checks the store. `trouble` is what the running bot says about it. */
export async function checkStore(
  { store: { url }, bot }: Config,
  look: StoreLook,
  trouble: Readiness['store'] = { ok: true },
): Promise<Check> {
  const kind = url.startsWith('sqlite:') ? 'SQLite' : 'PostgreSQL';
  const said: Readonly<Record<StoreLook['state'], string>> = {
    absent: 'not there yet: the first start makes it',
    ready: 'ready',
    older: 'of an older version',
    locked: 'in use',
    unusable: 'unusable',
    damaged: 'damaged',
  };
  // A data directory that can't be read has findings of its own.
  const lost = look.state === 'absent' ? await lostStore(bot.dataDir).catch(() => undefined) : undefined;
  const found =
    lost === undefined
      ? foundOf(trouble.ok || look.state === 'damaged' ? look : troubleOf(trouble.reason))
      : [{ level: 'error', code: 'STORE_LOST', message: lost } as const];
  return check('store', `${kind}, ${said[look.state]}`, found);
}

function troubleOf(why: string): StoreLook {
  return { state: why.startsWith('it is damaged') ? 'damaged' : 'unusable', why: `the store: ${why}` };
}

function foundOf(look: StoreLook): readonly Found[] {
  switch (look.state) {
    case 'absent':
    case 'ready':
      return [];
    case 'older':
      return [{ level: 'note', code: 'STORE_OLDER', message: 'an older Skillet wrote the store' }];
    case 'locked':
      return [{ level: 'error', code: 'STORE_LOCKED', message: look.why }];
    case 'damaged':
      return [{ level: 'error', code: 'STORE_DAMAGED', message: look.why }];
    case 'unusable':
      return [{ level: 'error', code: 'STORE_UNUSABLE', message: look.why }];
  }
}

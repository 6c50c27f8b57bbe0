import { chmodSync, statSync } from 'node:fs';
import type { Config } from '../../config/complete-config.ts';
import type { Diagnostic } from '../../core/codes.ts';
import { changeableByOthers } from '../../lib/files/changeable-by-others.js';
import { startChecks } from '../check-start.ts';
import { check, type Check, type Found } from './finding.ts';

/** Checks what `start` would refuse or warn about, and the mode of the data directory. */
export async function checkFiles(config: Config, more: readonly Diagnostic[]): Promise<Check> {
  const found = [...(await startChecks(config)), ...more].map(withRepair);
  return check('start', 'tokens, rights of files, ports, folders', [...found, ...checkData(config)]);
}

function withRepair(diagnostic: Diagnostic): Found {
  const { code, path: place } = diagnostic;
  if (place === undefined || !isOurs(place)) return diagnostic;
  if (code === 'SECRETS_READABLE') return { ...diagnostic, repair: () => chmodSync(place, 0o600) };
  if (code === 'CHANGEABLE_BY_OTHERS') return { ...diagnostic, repair: () => closeToOthers(place) };
  return diagnostic;
}

function checkData({ bot: { dataDir } }: Config): readonly Found[] {
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  if (stats === undefined || (stats.mode & 0o077) === 0 || !isOurs(dataDir)) return [];
  const repair = (): void => chmodSync(dataDir, 0o700);
  const message = `other users of this machine can read ${dataDir}: chmod 700 it`;
  return [{ level: 'warning', code: 'DATA_READABLE', message, path: dataDir, repair }];
}

/** Also closes the folders above, as far as this user owns them. */
function closeToOthers(place: string): void {
  const at = /^(.*) can be written by its group or by others/s.exec(changeableByOthers(place) ?? '')?.[1];
  if (at === undefined || !isOurs(at)) return;
  chmodSync(at, statSync(at).mode & ~0o022);
  closeToOthers(place);
}

function isOurs(place: string): boolean {
  return statSync(place, { throwIfNoEntry: false })?.uid === process.getuid?.();
}

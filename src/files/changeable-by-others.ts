import { lstatSync, realpathSync, type Stats } from 'node:fs';
import path from 'node:path';

const groupOrOthers = 0o022;
const sticky = 0o1000;

/**
 * Why somebody else than this user and root could change what stands at a path, or put something else there (S10); nothing where
 * nobody can. Links are followed first. Looks at the path, its folder, and every folder above.
 */
export function changeableByOthers(place: string, us = process.getuid?.()): string | undefined {
  if (us === undefined) return undefined;
  const real = realpathSync(place);
  for (let at = real; ; at = path.dirname(at)) {
    const problem = problemOf(lstatSync(at), us, at === real);
    if (problem !== undefined) return `${at} ${problem}`;
    if (at === path.dirname(at)) return undefined;
  }
}

function problemOf({ uid, mode }: Stats, us: number, isPlace: boolean): string | undefined {
  if (uid !== us && uid !== 0) return `belongs to user ${uid}: chown it to user ${us}`;
  // In a folder such as /tmp nobody moves what is another's.
  const isShared = !isPlace && (mode & sticky) !== 0;
  if ((mode & groupOrOthers) === 0 || isShared) return undefined;
  return `can be written by its group or by others: chmod go-w it`;
}

import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

// Plain JavaScript: it runs before the compile cache may be opened, and stripping types then would take 10 MB for good.

const groupOrOthers = 0o022;
const sticky = 0o1000;

/**
 * Why somebody else than this user and root could change what stands at a path, or put something else there (S10); nothing where
 * nobody can. Links are followed first. Looks at the path, its folder, and every folder above.
 * @param {string} place
 * @param {number | undefined} us
 * @returns {string | undefined}
 */
export function changeableByOthers(place, us = process.getuid?.()) {
  if (us === undefined) return undefined;
  const real = realpathSync(place);
  for (let at = real; ; at = path.dirname(at)) {
    const problem = problemOf(lstatSync(at), us, at === real);
    if (problem !== undefined) return `${at} ${problem}`;
    if (at === path.dirname(at)) return undefined;
  }
}

/**
 * @param {import('node:fs').Stats} stats
 * @param {number} us
 * @param {boolean} isPlace
 * @returns {string | undefined}
 */
function problemOf({ uid, mode }, us, isPlace) {
  if (uid !== us && uid !== 0) return `belongs to user ${uid}: chown it to user ${us}`;
  // In a folder such as /tmp nobody moves what is another's.
  const isShared = !isPlace && (mode & sticky) !== 0;
  if ((mode & groupOrOthers) === 0 || isShared) return undefined;
  return `can be written by its group or by others: chmod go-w it`;
}

import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

// Plain JavaScript: it runs before the compile cache opens, when stripping types would cost 10 MB for good.

const group = 0o020;
const others = 0o002;
const sticky = 0o1000;

/**
 * Why anybody but this user and root could change or replace a path (S10); undefined if nobody can. Follows links first,
 * then looks at the path and every folder above. `isPrivate`: the group has no other member.
 * @param {string} place
 * @param {number | undefined} us
 * @param {(gid: number, us: number) => boolean} isPrivate
 * @returns {string | undefined}
 */
export function changeableByOthers(place, us = process.getuid?.(), isPrivate = isPrivateGroup) {
  if (us === undefined) return undefined;
  const real = realpathSync(place);
  for (let at = real; ; at = path.dirname(at)) {
    const problem = problemOf(lstatSync(at), us, at === real, isPrivate);
    if (problem !== undefined) return `${at} ${problem}`;
    if (at === path.dirname(at)) return undefined;
  }
}

/**
 * @param {import('node:fs').Stats} stats
 * @param {number} us
 * @param {boolean} isPlace
 * @param {(gid: number, us: number) => boolean} isPrivate
 * @returns {string | undefined}
 */
function problemOf({ uid, gid, mode }, us, isPlace, isPrivate) {
  if (uid !== us && uid !== 0) return `belongs to user ${uid}: chown it to user ${us}`;
  // Sticky bit: only owners move their files.
  const isShared = !isPlace && (mode & sticky) !== 0;
  if ((mode & (group | others)) === 0 || isShared) return undefined;
  if ((mode & others) === 0 && isPrivate(gid, us)) return undefined;
  return `can be written by its group or by others: chmod go-w it`;
}

/**
 * Debian and Fedora make a group for each user: the user's name, no other member, nobody else's first group. Folders
 * are 0775 by default then. False if /etc does not say so.
 * @param {number} gid
 * @param {number} us
 * @param {string} etc
 * @returns {boolean}
 */
export function isPrivateGroup(gid, us, etc = '/etc') {
  try {
    const users = lines(path.join(etc, 'passwd')).filter(([, , , first]) => first === String(gid));
    const groups = lines(path.join(etc, 'group')).filter(([, , id]) => id === String(gid));
    const [name, , uid] = users[0] ?? [];
    const [groupName, , , members = ''] = groups[0] ?? [];
    if (users.length !== 1 || groups.length !== 1) return false;
    return uid === String(us) && groupName === name && ['', name].includes(members);
  } catch {
    return false;
  }
}

/** @param {string} file */
function lines(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
}

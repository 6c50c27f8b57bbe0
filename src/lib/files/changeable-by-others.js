import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

// Plain JavaScript: it runs before the compile cache may be opened, and stripping types then would take 10 MB for good.

const group = 0o020;
const others = 0o002;
const sticky = 0o1000;

/**
 * Why somebody else than this user and root could change what stands at a path, or put something else there (S10); undefined if
 * nobody can. Links are followed first. Looks at the path, its folder, and every folder above. `isPrivate` says whether a
 * group has no other member.
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
  // A sticky bit: nobody moves what is another's.
  const isShared = !isPlace && (mode & sticky) !== 0;
  if ((mode & (group | others)) === 0 || isShared) return undefined;
  if ((mode & others) === 0 && isPrivate(gid, us)) return undefined;
  return `can be written by its group or by others: chmod go-w it`;
}

/**
 * Whether a group is this user's own, as Debian and Fedora make one for each user: it has the user's name, no other member,
 * and is nobody else's first group. Where /etc does not say so, it is not. With such groups folders are 0775 by default.
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

import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { OperatorError } from '../../core/errors.ts';

/**
 * Throws OperatorError if `git add` would take this file, which is going to hold secrets (S2). A folder outside of git,
 * or a machine without git, is fine.
 */
export function refuseTracked(file: string): void {
  const folder = nearestFolder(path.dirname(path.resolve(file)));
  // The name is relative to that folder, because git does not look through links.
  const inside = path.relative(folder.named, path.resolve(file));
  const { PATH, HOME } = process.env;
  const asked = spawnSync(
    'git',
    // The folder may belong to another user, so nothing in it is executed.
    ['-C', folder.real, '-c', 'safe.directory=*', '-c', 'core.fsmonitor=false', 'check-ignore', '-q', inside],
    { env: { PATH, HOME, LC_ALL: 'C' }, encoding: 'utf8' },
  );
  // Exit code 0: git ignores the file. 128: this is no work tree.
  if (asked.error !== undefined || asked.status !== 1) return;
  throw new OperatorError(
    `${file} would hold your tokens, and it lies in a git work tree that does not ignore it: the next commit could publish them. Nothing was written. Add a line \`${path.basename(file)}\` to ${path.join(folder.named, '.gitignore')} (and \`git rm --cached\` it if it was committed before), or set the bot up elsewhere: \`--config /srv/bot/config.toml\`.`,
  );
}

/** The nearest folder that exists, because the folder of the file may have to be made yet. */
function nearestFolder(folder: string): Readonly<{ named: string; real: string }> {
  const parent = path.dirname(folder);
  return existsSync(folder) || parent === folder
    ? { named: folder, real: realpathSync(folder) }
    : nearestFolder(parent);
}

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  lstatSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { enterFolder, unlessRefused, type Way, type FilePlace } from './open-inside.ts';
import { hasCode } from '../has-code.ts';

const run = promisify(execFile);

/**
 * Writes a file (0600), or copies `copyOf`, atomically and with missing folders. False if a name is a link or taken by
 * something else (T13). Targets of links stay as they are. Throws if the disk is full.
 */
export function writeInside(
  { root, names }: FilePlace,
  bytes: Uint8Array | Readonly<{ copyOf: string }>,
  way?: Way,
): boolean {
  const name = names.at(-1);
  if (name === undefined) return false;
  const folder = enterFolder(root, names.slice(0, -1), { make: true, way });
  if (folder === undefined) return false;
  const entry = folder.at(name);
  const draft = folder.at(`.${randomBytes(6).toString('hex')}.part`);
  try {
    const before = unlessRefused(() => lstatSync(entry));
    if (before !== undefined && !before.isFile()) return false;
    if ('copyOf' in bytes) copyFileSync(bytes.copyOf, draft, constants.COPYFILE_EXCL);
    else writeNew(draft, bytes);
    renameSync(draft, entry);
    return true;
  } catch (error) {
    unlessRefused(() => unlinkSync(draft));
    if (!isRefusal(error)) throw error;
    return false;
  } finally {
    folder.leave();
  }
}

function writeNew(file: string, bytes: Uint8Array): void {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const descriptor = openSync(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
  } finally {
    closeSync(descriptor);
  }
}

/** Whether something is in the way of the file. Other errors are faults of the disk. */
function isRefusal(error: unknown): boolean {
  const codes = [
    'EISDIR',
    'ENOTDIR',
    'EEXIST',
    'ENOTEMPTY',
    'ENAMETOOLONG',
    'ENOENT',
    'EACCES',
    'EPERM',
    'ELOOP',
  ];
  return hasCode(error, ...codes);
}

export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 2 });
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    const env = { PATH: process.env['PATH'] };
    await run('chmod', ['-R', 'u+rwX', '--', folder], { env }).catch(() => undefined);
    await run('rm', ['-rf', '--', folder], { env });
  }
}

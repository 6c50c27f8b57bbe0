import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Removes a folder and all below it, whatever commands made of it: paths of any length, folders that nobody may enter.
 * Links in it are removed, not followed. One that is not there is fine.
 */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 2 });
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    const env = { PATH: process.env['PATH'] };
    // Complaints about single entries do not matter: what can't be removed after all is told by the last one.
    await run('chmod', ['-R', 'u+rwX', '--', folder], { env }).catch(() => undefined);
    await run('rm', ['-rf', '--', folder], { env });
  }
}

import { readFileSync } from 'node:fs';
import { measureProcesses } from '../../lib/processes/measure-processes.ts';
import { findProgram } from '../inside-sandbox.ts';
import { measureFolders } from './measure-disk.ts';

/**
 * Why limits of commands can't be measured on this machine, with the fix; undefined if they can. If they can't, no
 * command runs (T9).
 */
export async function whyUnmeasurable(): Promise<string | undefined> {
  const missing = ['mkfifo', 'du'].filter(
    (name) => findProgram(name, process.env['PATH'] ?? '') === undefined,
  );
  if (missing.length > 0) return 'mkfifo and du are needed: apt-get install coreutils';
  if (!isWatchable(process.pid)) return unwatchable;
  try {
    const [names = 0] = await measureFolders([import.meta.dirname], 'names');
    return names > 0 ? undefined : 'du counts no names here: apt-get install coreutils';
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return `du does not measure folders here (${error.message.trim()}): apt-get install coreutils`;
  }
}

export const unwatchable =
  'processes of commands can not be watched, as /proc is missing or hides them: mount /proc without hidepid, on a kernel with CONFIG_PROC_CHILDREN';

/** Whether a living process and its descendants can be measured. There are at least `least` of them. */
export function isWatchable(root: number, least = 1): boolean {
  const { ids, tasks } = measureProcesses(root, Infinity);
  return ids.length >= least && tasks >= ids.length && hasChildrenList(root);
}

/** Whether the kernel lists children. Without the list a process seems to have none. */
function hasChildrenList(id: number): boolean {
  try {
    readFileSync(`/proc/${id}/task/${id}/children`);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

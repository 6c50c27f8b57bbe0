import { constants, setPriority } from 'node:os';
import { childrenOf, measureProcesses } from './measure-processes.ts';

/** Processes that are looked for below one that is killed. */
const mostFound = 1_000;

/**
 * Ends bwrap and the namespace that it made: with the first process in there the kernel ends all others, however many
 * they are and however fast they multiply.
 */
export function killNamespace(bwrap: number): void {
  for (const first of childrenOf(bwrap)) {
    // Among thousands that want the processor it would not come to its end.
    unlessGone(() => setPriority(first, constants.priority.PRIORITY_HIGHEST));
    killOne(first);
  }
  killOne(-bwrap);
  killOne(bwrap);
}

/** Ends a process, its group, and what descends from it and left the group. */
export function killTree(root: number): void {
  const { ids } = measureProcesses(root, mostFound);
  killOne(-root);
  for (const id of ids) killOne(id);
}

/** Ends a process, or a group by its number below zero; undefined if it is gone already. */
export function killOne(id: number): void {
  unlessGone(() => process.kill(id, 'SIGKILL'));
}

/** It is gone, or the user may not do that. */
function unlessGone(act: () => void): void {
  try {
    act();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const info =
      error instanceof Error && 'info' in error ? (error.info as { code?: string }).code : undefined;
    if (!['ESRCH', 'EPERM', 'EACCES'].includes(info ?? String(code))) throw error;
  }
}

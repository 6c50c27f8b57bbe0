import { constants, setPriority } from 'node:os';
import { childrenOf, measureProcesses } from './measure-processes.ts';

const mostFound = 1_000;

/** Kills the first process of a namespace. The kernel then kills the others. */
export function killNamespace(bwrap: number): void {
  for (const first of childrenOf(bwrap)) {
    // Among thousands of processes it would otherwise not get the time to end.
    unlessGone(() => setPriority(first, constants.priority.PRIORITY_HIGHEST));
    killOne(first);
  }
  killOne(-bwrap);
  killOne(bwrap);
}

export function killTree(root: number): void {
  const { ids } = measureProcesses(root, mostFound);
  killOne(-root);
  for (const id of ids) killOne(id);
}

export function killOne(id: number): void {
  unlessGone(() => process.kill(id, 'SIGKILL'));
}

/** Ignores that a process is gone or may not be killed. */
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

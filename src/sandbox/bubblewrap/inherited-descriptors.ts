import { closeSync, openSync, readFileSync, readdirSync } from 'node:fs';

/** Descriptors that programs must not get, and an open file that says nothing and takes nothing, for their place. */
export type CoveredDescriptors = Readonly<{ numbers: readonly number[]; file: number; close(): void }>;

const closedOnExec = 0o2000000;

/**
 * Finds the descriptors beyond the first three that this process was started with and would hand on to every program it
 * starts. Node's own are closed at that moment. Linux only.
 */
export function inheritedDescriptors(): CoveredDescriptors {
  const numbers = readdirSync('/proc/self/fdinfo')
    .map(Number)
    .filter((fd) => fd > 2 && isHandedOn(fd));
  const file = openSync('/dev/null', 'r+');
  return { numbers, file, close: () => closeSync(file) };
}

function isHandedOn(fd: number): boolean {
  try {
    const [, flags = '0'] = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1')) ?? [];
    return (Number.parseInt(flags, 8) & closedOnExec) === 0;
  } catch (error) {
    // The one that the folder was read with.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

import { readFileSync } from 'node:fs';

/** An id that is the same until the machine restarts; empty if the system does not tell it. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    // This is not Linux, or the file is hidden here.
    return '';
  }
}

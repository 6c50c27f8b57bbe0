import { readFileSync } from 'node:fs';

/** The same until the machine restarts; empty where nobody tells. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    // Not Linux, or it is hidden here.
    return '';
  }
}

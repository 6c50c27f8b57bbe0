import { setTimeout as pause } from 'node:timers/promises';

/** Looks every 10 ms whether this holds: for what tells nobody when it happens, such as the end of a process that is not ours. Between looks the processor is for those who are waited for. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(10);
}

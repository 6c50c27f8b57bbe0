import { setTimeout as delay } from 'node:timers/promises';

const stepMs = 20;

/**
 * Resolves with what is promised; rejects when it does not come within `ms` of this process's own time, which goes on in
 * short steps: while the machine does something else it stands still, so that no limit is missed by chance.
 */
export async function withinMachineTime<T>(what: string, ms: number, promised: Promise<T>): Promise<T> {
  const over = { yet: false };
  const late = async (): Promise<never> => {
    for (let passed = 0; passed < ms && !over.yet; passed += stepMs) await delay(stepMs);
    throw new Error(`${what} took longer than ${ms} ms`);
  };
  try {
    return await Promise.race([promised, late()]);
  } finally {
    over.yet = true;
  }
}

/** Milliseconds of processor time that `work` took: unlike the time of the day they are its own. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

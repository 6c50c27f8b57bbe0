import type { Connection } from './open-connection.ts';

type Call = Readonly<{ run(): void; done(): void; failed(error: unknown): void }>;

/**
 * Runs what is handed in before the event loop comes round as one fully synced transaction, in order, so that a burst of
 * messages waits for the disk once. Each promise settles after the commit. Where the transaction fails each call is run
 * on its own: a bad one harms no other.
 */
export function createBatch(connection: Connection): <T>(work: () => T) => Promise<T> {
  const waiting: Call[] = [];

  function flush(): void {
    const calls = waiting.splice(0);
    if (!committed(calls)) for (const call of calls) committed([call]);
  }

  function committed(calls: readonly Call[]): boolean {
    try {
      connection.write('power', () => calls.forEach((call) => call.run()));
    } catch (error) {
      const [only, ...others] = calls;
      if (others.length > 0) return false;
      only?.failed(error);
      return true;
    }
    calls.forEach((call) => call.done());
    return true;
  }

  return <T>(work: () => T) =>
    new Promise<T>((resolve, reject) => {
      const result: { value?: T } = {};
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({
        run: () => void (result.value = work()),
        done: () => resolve(result.value as T),
        failed: reject,
      });
    });
}

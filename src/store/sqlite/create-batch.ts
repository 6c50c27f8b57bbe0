import type { SqliteConnection, SqliteSurvives } from './open-connection.ts';

type Call = Readonly<{ survives: SqliteSurvives; run(): void; done(): void; failed(error: unknown): void }>;

export type Batch = Readonly<{
  /** Adds a write to those of this tick, in order. It resolves or rejects after the commit. */
  write<T>(survives: SqliteSurvives, work: () => T): Promise<T>;
  flush(): void;
}>;

/**
 * Collects the writes of one tick in a transaction with the strictest sync that was asked for, so that a burst waits
 * for the disk once. If it fails, each write runs alone, so that a bad one harms no other.
 */
export function createSqliteBatch(connection: SqliteConnection): Batch {
  const waiting: Call[] = [];

  function flush(): void {
    const calls = waiting.splice(0);
    if (calls.length > 0 && !committed(calls)) for (const call of calls) committed([call]);
  }

  function committed(calls: readonly Call[]): boolean {
    const survives = calls.some((call) => call.survives === 'power') ? 'power' : 'process';
    try {
      connection.write(survives, () => calls.forEach((call) => call.run()));
    } catch (error) {
      const [only, ...others] = calls;
      if (others.length > 0) return false;
      only?.failed(error);
      return true;
    }
    calls.forEach((call) => call.done());
    return true;
  }

  return {
    write: <T>(survives: SqliteSurvives, work: () => T) =>
      new Promise<T>((resolve, reject) => {
        const result: { value?: T } = {};
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({
          survives,
          run: () => void (result.value = work()),
          done: () => resolve(result.value as T),
          failed: reject,
        });
      }),
    flush,
  };
}

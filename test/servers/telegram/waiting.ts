type Waiter = Readonly<{ check: () => void; fail: (reason: Error) => void }>;

export type Waiting = Readonly<{
  /** Resolves with the first thing `check` gives that is neither undefined nor false. */
  until<T>(what: string, check: () => T | undefined | false): Promise<T>;
  /** Something happened: everybody who waits looks again. */
  check(): void;
  /** Everybody who waits, and whoever waits next, is told of this fault of the server. */
  fail(reason: Error): void;
  stop(): void;
}>;

/**
 * Waiting for things to happen, without polling. Whoever waits longer than `patienceMs` is told for what, and what
 * happened last.
 */
export function createWaiting(patienceMs: number, last: () => string = () => ''): Waiting {
  const waiters = new Set<Waiter>();
  const faults: Error[] = [];
  const failAll = (reason: Error): void => {
    for (const { fail } of [...waiters]) fail(reason);
  };
  return {
    until<T>(what: string, check: () => T | undefined | false) {
      return new Promise<T>((resolve, reject) => {
        const [fault] = faults;
        if (fault !== undefined) return reject(fault);
        const end = (settle: () => void): void => {
          waiters.delete(waiter);
          clearTimeout(timer);
          settle();
        };
        const waiter: Waiter = {
          check() {
            const found = check();
            if (found !== undefined && found !== false) end(() => resolve(found));
          },
          fail: (reason) => end(() => reject(reason)),
        };
        const late = new Error(`waited ${patienceMs} ms in vain for ${what}`);
        const timer = setTimeout(() => {
          late.message += last();
          waiter.fail(late);
        }, patienceMs);
        waiters.add(waiter);
        waiter.check();
      });
    },
    check() {
      for (const { check } of [...waiters]) check();
    },
    fail(reason) {
      faults.push(reason);
      failAll(reason);
    },
    stop: () => failAll(new Error('the server was closed')),
  };
}

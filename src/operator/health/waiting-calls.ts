import { AsyncLocalStorage } from 'node:async_hooks';
import { storeFault } from '../../store/store-fault.ts';

/** Calls of the store that wait until it can be used, in the order in which they came (Q11). */
export type WaitingCalls = Readonly<{
  /**
   * Settles as the call does when its turn comes. `failure` is how it failed already, if it did: where that call may have
   * been carried out after all, and is not `repeatable`, it is not made again and the promise rejects with `failure`.
   * Made in the async context it came in: a store that several processes share tells by that for which lane it is (Q9).
   */
  add<T>(call: () => Promise<T>, how: Readonly<{ repeatable: boolean; failure?: Error }>): Promise<T>;
  /** Makes the first call that waits, if any; false where the database refused it, which `add` does not tell then. */
  tryFirst(): Promise<boolean>;
  /** Makes all of them, side by side. Those that are refused wait on. */
  tryAll(): void;
  /** Rejects all of them. */
  giveUp(reason: Error): void;
}>;

type Waiting = Readonly<{
  /** `refused`: by the database, it still waits. `cut_off`: by the database, but it is settled. */
  make(): Promise<'made' | 'refused' | 'cut_off'>;
  giveUp(reason: Error): void;
}>;

/** `met` is told of each failure. */
export function createWaitingCalls(met: (error: unknown) => void): WaitingCalls {
  const waiting: Waiting[] = [];

  async function make(call: Waiting): Promise<boolean> {
    const outcome = await call.make();
    if (outcome === 'refused') waiting.unshift(call);
    return outcome === 'made';
  }

  return {
    add(call, { repeatable, failure }) {
      const mayRepeat = (error: unknown): boolean => repeatable || storeFault(error)?.undone !== false;
      const inContext = AsyncLocalStorage.snapshot();
      return new Promise((resolve, reject) => {
        waiting.push({
          async make() {
            if (failure !== undefined && !mayRepeat(failure)) {
              reject(failure);
              return 'made';
            }
            try {
              resolve(await inContext(call));
              return 'made';
            } catch (error) {
              met(error);
              const fault = storeFault(error);
              if (fault !== undefined && mayRepeat(error)) return 'refused';
              reject(error instanceof Error ? error : new Error(String(error)));
              return fault === undefined ? 'made' : 'cut_off';
            }
          },
          giveUp: (reason) => reject(failure ?? reason),
        });
      });
    },
    async tryFirst() {
      const first = waiting.shift();
      return first === undefined || make(first);
    },
    tryAll() {
      for (const call of waiting.splice(0)) void make(call);
    },
    giveUp(reason) {
      for (const call of waiting.splice(0)) call.giveUp(reason);
    },
  };
}

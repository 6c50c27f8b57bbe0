import { DatabaseFault } from './open-database.ts';

type Call<In, Out> = Readonly<{ input: In; done(result: Out): void; failed(error: unknown): void }>;

/**
 * Collects inputs and runs them in batches: those of one tick, or of the time in which a batch runs. Batches run in
 * order, one at a time. If one fails, each of its inputs runs alone, so that a bad one harms no other.
 */
export function createPostgresBatch<In, Out>(
  run: (inputs: readonly In[]) => Promise<readonly Out[]>,
  most: number,
): (input: In) => Promise<Out> {
  const waiting: Call<In, Out>[] = [];
  const state = { running: false };

  async function drain(): Promise<void> {
    state.running = true;
    for (let calls = waiting.splice(0, most); calls.length > 0; calls = waiting.splice(0, most))
      await settle(calls);
    state.running = false;
  }

  async function settle(calls: readonly Call<In, Out>[]): Promise<void> {
    try {
      const results = await run(calls.map(({ input }) => input));
      calls.forEach(({ done }, place) => done(results[place] as Out));
    } catch (error) {
      const away = error instanceof DatabaseFault && !error.connected;
      if (calls.length === 1 || away) return calls.forEach(({ failed }) => failed(error));
      for (const call of calls) await settle([call]);
    }
  }

  return (input) =>
    new Promise((done, failed) => {
      if (waiting.length === 0 && !state.running) setImmediate(() => void drain());
      waiting.push({ input, done, failed });
    });
}

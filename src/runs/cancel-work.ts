import type { StopOrder, Stopped } from '../store/stop-order.ts';
import type { Store } from '../store/store.ts';

/** Stops all of it in one step, and tells the processes that work on it (Q4, T8). */
export async function haltWork(store: Pick<Store, 'stop' | 'signals'>, order: StopOrder): Promise<Stopped> {
  const stopped = await store.stop(order);
  for (const key of stopped.stopping) await store.signals.send('stop', key);
  return stopped;
}

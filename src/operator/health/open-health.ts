import type { Channel } from '../../core/channel.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { noMeter, type Meter } from '../../core/meter.ts';
import type { Model } from '../../core/model.ts';
import type { Store } from '../../store/store.ts';
import { measureModel } from './measure-model.ts';
import type { HealthServer } from './serve-health.ts';
import { createStoreHealth, type StoreHealth } from './store-health.ts';
import { createVitals } from './vitals.ts';
import { watchChannel } from './watch-channel.ts';
import { watchStore } from './watch-store.ts';

/** Everything by which a bot knows and tells how it is: its parts, watched, and what is made of that. */
export type Health = Readonly<{
  ofStore: StoreHealth;
  meter: Meter;
  /** The store as the bot is to use it. */
  store: Store;
  watchChannel(channel: Channel): Channel;
  measureModel(model: Model): Model;
  /** Serves health and metrics until that is closed; nothing without an address. Throws OperatorError. */
  serve(redact: (text: string) => string): Promise<HealthServer | undefined>;
}>;

/** `listen` is the address for health and metrics; without one nothing is counted (L4). */
export async function openHealth(options: {
  listen?: string;
  store: Store;
  /** What is wrong with the data directory; nothing without one. */
  dataProblem?: () => string | undefined;
  clock: Clock;
  log: Log;
}): Promise<Health> {
  const { listen, store, dataProblem = () => undefined, clock, log } = options;
  const metrics =
    listen === undefined
      ? undefined
      : await import('./open-metrics.ts').then(({ openMetrics }) =>
          openMetrics({ backlog: store.backlog, storeUp: () => ofStore.state().ok }),
        );
  const meter = metrics?.meter ?? noMeter;
  const ofStore = createStoreHealth({
    check: store.check,
    onFault: () => meter.count('store_outages', {}),
    clock,
    log,
  });
  const vitals = createVitals({ store: ofStore.state, dataProblem, clock });
  return {
    ofStore,
    meter,
    store: watchStore(store, ofStore, meter),
    watchChannel: (channel) => watchChannel(channel, vitals, ofStore),
    measureModel: (model) => measureModel(model, meter, vitals),
    async serve(redact) {
      if (listen === undefined || metrics === undefined) return undefined;
      const { serveHealth } = await import('./serve-health.ts');
      return serveHealth({ listen, readiness: vitals.readiness, metrics, redact, log });
    },
  };
}

import type { Channel } from '../../core/channel.ts';
import { noMeter, type Meter } from '../../core/meter.ts';
import type { Model } from '../../core/model.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { HealthOptions, HealthServer } from './serve-health.ts';
import { createStoreHealth, type StoreHealth } from './store-health.ts';
import { createVitals, type Readiness, type Vitals } from './open-metrics.ts';
import { watchStore } from './watch-store.ts';
import type { Store } from '../../store/store.ts';

type Health = Readonly<{
  ofStore: StoreHealth;
  meter: Meter;
  store: Store;
  watchChannel(channel: Channel): Channel;
  measureModel(model: Model): Model;
  readiness(): Readiness;
  /** Serves health and metrics. Undefined without an address. Throws OperatorError if it can't listen. */
  serve(
    of: Pick<HealthOptions, 'redact' | 'receiveHook' | 'page' | 'servers'>,
  ): Promise<HealthServer | undefined>;
}>;

/** Makes what watches over the process. Without `listen`, nothing is counted (L4). */
export async function openHealth(options: {
  listen?: string;
  store: Store;
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
    readiness: vitals.requirements,
    async serve({ redact, receiveHook, page, servers }) {
      if (listen === undefined || metrics === undefined) return undefined;
      const { serveHealth } = await import('./serve-health.ts');
      const { requirements } = vitals;
      return serveHealth({ listen, requirements, servers, metrics, receiveHook, page, redact, clock, log });
    },
  };
}

/** Wraps a channel so that events are refused while the store is away. The platform sends them again (Q11). */
function watchChannel(channel: Channel, vitals: Vitals, health: StoreHealth): Channel {
  const { name } = channel;
  vitals.channel(name, 'starting');
  return {
    ...channel,
    async start(onEvent) {
      await channel.start((event) => {
        vitals.event(name);
        return health.admitting(() => onEvent(event));
      });
      vitals.channel(name, 'started');
    },
    async stop() {
      vitals.channel(name, 'stopped');
      await channel.stop();
    },
  };
}

function measureModel(model: Model, meter: Meter, vitals: Vitals): Model {
  const { alias } = model;
  const ended = (outcome: Parameters<Vitals['model']>[1]): void => {
    meter.count('model_requests', { model: alias, outcome });
    vitals.model(alias, outcome);
  };
  return {
    ...model,
    async complete(request, signal, onText) {
      try {
        const answer = await model.complete(request, signal, onText);
        ended('ok');
        const { input, output, cacheRead, cacheWrite } = answer.tokens;
        const kinds = { input, output, cache_read: cacheRead, cache_write: cacheWrite } as const;
        for (const kind of ['input', 'output', 'cache_read', 'cache_write'] as const)
          meter.count('model_tokens', { model: alias, kind }, kinds[kind]);
        return answer;
      } catch (error) {
        ended(signal.aborted ? 'cancelled' : 'failed');
        throw error;
      }
    },
  };
}

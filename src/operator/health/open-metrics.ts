import type { Counter } from 'prom-client';
import { counters, type CounterName, type Meter } from '../../core/meter.ts';
import type { Clock } from '../../lib/clock.ts';
import type { StoreState } from './store-health.ts';
import type { Backlog } from '../../store/store.ts';

/** All metrics of a bot, as Prometheus reads them (L4). */
export type Metrics = Readonly<{
  meter: Meter;
  contentType: string;
  /** All metrics as text. Gauges are NaN if the store can't be read. */
  text(): Promise<string>;
}>;

/** Bounds of the buckets for turns, in seconds. */
const turnBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640];

/** Opens the metrics, which loads `prom-client` (0.1 s). */
export async function openMetrics(options: {
  backlog(): Promise<Backlog>;
  storeUp(): boolean;
}): Promise<Metrics> {
  const { backlog, storeUp } = options;
  const prometheus = await import('prom-client');
  const registry = new prometheus.Registry();
  const registers = [registry];
  prometheus.collectDefaultMetrics({ register: registry });
  const counted = new Map(
    Object.entries(counters).map(([name, { help, labels }]) => {
      const labelNames = Object.keys(labels);
      const counter = new prometheus.Counter({ name: `skillet_${name}_total`, help, labelNames, registers });
      // Rates need a zero to start from.
      for (const values of everyValue(labels)) counter.inc(values, 0);
      return [name, counter] satisfies [string, Counter];
    }),
  );
  const turns = new prometheus.Histogram({
    name: 'skillet_turn_seconds',
    help: 'How long a message was worked on',
    buckets: turnBuckets,
    registers,
  });
  const gauge = (name: string, help: string) =>
    new prometheus.Gauge({ name: `skillet_${name}`, help, registers });
  const up = gauge('store_up', 'Whether the store can be read and written');
  const waiting = gauge('inbox_waiting', 'Messages that wait for an answer or are being answered');
  const dead = gauge(
    'inbox_dead',
    'Dead letters, messages that failed three times: see `skillet inbox list`',
  );
  const unsent = gauge('outbox_waiting', 'Parts of answers that are not sent yet');

  return {
    meter: {
      count: (name, labels, by = 1) => counted.get(name)?.inc(labels as Readonly<Record<string, string>>, by),
      turn: (seconds) => turns.observe(seconds),
    },
    contentType: registry.contentType,
    async text() {
      up.set(storeUp() ? 1 : 0);
      const now = await backlog().catch(() => unknownBacklog);
      waiting.set(now.inboxWaiting);
      dead.set(now.inboxDead);
      unsent.set(now.outboxWaiting);
      return registry.metrics();
    },
  };
}

const unknownBacklog: Backlog = {
  inboxWaiting: Number.NaN,
  inboxDead: Number.NaN,
  outboxWaiting: Number.NaN,
};
function everyValue(
  labels: (typeof counters)[CounterName]['labels'],
): readonly Readonly<Record<string, string>>[] {
  return Object.entries<readonly string[]>(labels).reduce<readonly Readonly<Record<string, string>>[]>(
    (sofar, [label, values]) => sofar.flatMap((one) => values.map((value) => ({ ...one, [label]: value }))),
    [{}],
  );
}

/** Whether the bot is ready, and why not (L4). Ages are in whole seconds. */
export type Readiness = Readonly<{
  ready: boolean;
  data: Readonly<{ ok: true } | { ok: false; reason: string }>;
  store: Readonly<{ ok: true } | { ok: false; reason: string; sinceSeconds: number }>;
  channels: Readonly<Record<string, Readonly<{ state: ChannelState; lastEventSeconds: number | null }>>>;
  model: Readonly<{ alias: string; outcome: ModelOutcome; ageSeconds: number }> | null;
}>;

type ChannelState = 'starting' | 'started' | 'stopped';

type ModelOutcome = 'ok' | 'failed' | 'cancelled';

export type Vitals = Readonly<{
  channel(name: string, state: ChannelState): void;
  event(channel: string): void;
  model(alias: string, outcome: ModelOutcome): void;
  requirements(): Readiness;
}>;

/** Keeps the state of store, data, channels and model. A failure of the model leaves the bot ready. */
export function createVitals(options: {
  store(): StoreState;
  dataProblem(): string | undefined;
  clock: Clock;
}): Vitals {
  const { store, dataProblem, clock } = options;
  const channels = new Map<string, Readonly<{ state: ChannelState; lastEventAt?: number }>>();
  let model: Readonly<{ alias: string; outcome: ModelOutcome; at: number }> | undefined;
  const age = (at: number): number => Math.max(0, Math.round((clock.now() - at) / 1_000));

  return {
    channel(name, state) {
      channels.set(name, { ...channels.get(name), state });
    },
    event(name) {
      channels.set(name, { state: channels.get(name)?.state ?? 'started', lastEventAt: clock.now() });
    },
    model(alias, outcome) {
      model = { alias, outcome, at: clock.now() };
    },
    requirements() {
      const state = store();
      const reason = dataProblem();
      return {
        ready:
          state.ok &&
          reason === undefined &&
          [...channels.values()].every(({ state }) => state === 'started'),
        store: state.ok ? { ok: true } : { ok: false, reason: state.reason, sinceSeconds: age(state.since) },
        data: reason === undefined ? { ok: true } : { ok: false, reason },
        channels: Object.fromEntries(
          [...channels].map(([name, { state, lastEventAt }]) => [
            name,
            { state, lastEventSeconds: lastEventAt === undefined ? null : age(lastEventAt) },
          ]),
        ),
        model:
          model === undefined
            ? null
            : { alias: model.alias, outcome: model.outcome, ageSeconds: age(model.at) },
      };
    },
  };
}

import type { Clock } from '../../lib/clock.ts';
import type { StoreState } from './store-health.ts';

/** What `/readyz` answers (L4). Ages are whole seconds. */
export type Readiness = Readonly<{
  /** Messages are accepted: the store works, the data directory is there, and every channel has been started. */
  ready: boolean;
  data: Readonly<{ ok: true } | { ok: false; reason: string }>;
  store: Readonly<{ ok: true } | { ok: false; reason: string; sinceSeconds: number }>;
  channels: Readonly<Record<string, Readonly<{ state: ChannelState; lastEventSeconds: number | null }>>>;
  /** How the last request to a language model ended; nothing before the first. */
  model: Readonly<{ alias: string; outcome: ModelOutcome; ageSeconds: number }> | null;
}>;

export type ChannelState = 'starting' | 'started' | 'stopped';
export type ModelOutcome = 'ok' | 'failed' | 'cancelled';

/** Signs of life, as they come in. */
export type Vitals = Readonly<{
  channel(name: string, state: ChannelState): void;
  event(channel: string): void;
  model(alias: string, outcome: ModelOutcome): void;
  readiness(): Readiness;
}>;

/** Remembers when each part of the bot last gave a sign of life. A model's failure makes nothing unready: messages are still accepted. */
export function createVitals(options: {
  store(): StoreState;
  /** What is wrong with the data directory. */
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
    readiness() {
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

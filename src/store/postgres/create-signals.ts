import { createLocalSignals, topics, type Signals } from '../signals.ts';
import type { NotifyBus } from './create-notify-bus.ts';

/** Signals between processes: at once in this one, by the wire in the others (Q9). */
export function createSignals(wire: NotifyBus): Signals {
  const local = createLocalSignals();
  for (const topic of topics) wire.on(topic, (text) => void local.send(topic, text));
  return {
    async send(topic, text) {
      await local.send(topic, text);
      await wire.send(topic, text);
    },
    on: local.on,
  };
}

import type { Signals, Topic } from './signals.ts';

/** Signals within one process. */
export function createLocalSignals(): Signals {
  const listeners = new Set<Readonly<{ topic: Topic; listener: (text: string) => void }>>();
  return {
    async send(topic, text) {
      for (const one of listeners) if (one.topic === topic) one.listener(text);
    },
    on(topic, listener) {
      const one = { topic, listener };
      listeners.add(one);
      return () => void listeners.delete(one);
    },
  };
}

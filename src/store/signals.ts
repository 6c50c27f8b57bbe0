/** Words between the processes on one store: that something changed, for whom it concerns. Hints, never truth: a process that is cut off for a moment misses them. */
export type Signals = Readonly<{
  /** Reaches the listeners of every process, this one included. `text` is at most 7,000 bytes. */
  send(topic: Topic, text: string): Promise<void>;
  /** A listener must not throw. Gives what ends it. */
  on(topic: Topic, listener: (text: string) => void): () => void;
}>;

/**
 * `stop`: an inbox item (its key) is to end. `reload`: skills and config are to be read again. `answer`: an ask (its id)
 * was settled. `moved`: a chat got a new id. `set`: a tool's secret was set. `mcp`: the operator agreed to tools of a server (its name).
 * Of a run, by its id: `asking`: it waits for a person; `progress`: what it does (after the id); `ended`: its result is in its conversation's inbox.
 */
export const topics = [
  'stop',
  'reload',
  'answer',
  'moved',
  'set',
  'mcp',
  'asking',
  'progress',
  'ended',
] as const;
export type Topic = (typeof topics)[number];

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

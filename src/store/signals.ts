/** Hints between processes: a disconnected process misses them. */
export type Signals = Readonly<{
  /** Includes this process. At most 7,000 bytes. */
  send(topic: Topic, text: string): Promise<void>;
  /** A listener must not throw. Returns the unsubscribe. */
  on(topic: Topic, listener: (text: string) => void): () => void;
}>;

/**
 * `stop`: an inbox item (key). `reload`: skills and config. `answer`: a pending request (id). `moved`: a chat has a
 * new id. `routines`: some changed. `set`: a tool's secret. `mcp`: a server (name) whose tools were approved. Of runs (id): `asking`,
 * `progress` (text after the id), `ended`: the result is in the inbox. `files`: a folder whose files were removed.
 */
export const topics = [
  'stop',
  'reload',
  'answer',
  'moved',
  'routines',
  'set',
  'mcp',
  'asking',
  'progress',
  'ended',
  'files',
] as const;
type Topic = (typeof topics)[number];

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

/** Hints between processes, which a disconnected process misses. */
export type Signals = Readonly<{
  /** Sends a hint to all processes, this one included. The text has at most 7,000 bytes. */
  send(topic: Topic, text: string): Promise<void>;
  /** Calls the listener for each hint. It must not throw. Returns how to unsubscribe. */
  on(topic: Topic, listener: (text: string) => void): () => void;
}>;

/**
 * What hints are about. `stop`: an inbox item (key). `reload`: skills and config. `answer`: a pending request (id).
 * `moved`: a chat has a new id. `routines`: some changed. `set`: a secret of a tool was set. `mcp`: a server (name)
 * whose tools were approved. For runs (id): `asking`, `progress` (text after the id), `step` (JSON after the id), and `ended` once the result is in
 * the inbox. `files`: a folder whose files were removed.
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
  'step',
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

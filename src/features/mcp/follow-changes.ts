import { raceTimeout } from '../../lib/async/deadline.ts';
import type { Clock } from '../../lib/clock.ts';
import { noTimeout, type OpenClient } from './open-client.ts';

/** How long a server may take to open the stream before its lists are read, in milliseconds. */
const openMs = 5_000;
/** Milliseconds between two streams. They double, and restart after a stream that lasted `held`. */
const againMs = { first: 1_000, last: 60_000, held: 30_000 };

/**
 * Calls `onChanged` when a list of the server changes. Older servers say so by themselves. Newer ones do on a stream that
 * is opened here, and opened again when it ends (X9). Resolves when that stream is open, refused, or late.
 */
export async function followChanges(
  { client, isModern, has, closed, check }: OpenClient,
  onChanged: (kind: 'tools' | 'prompts' | 'resources') => void,
  clock: Clock,
): Promise<void> {
  const kinds = (['tools', 'prompts', 'resources'] as const).filter(
    (kind) => has[kind]?.listChanged === true,
  );
  for (const kind of ['tools', 'prompts', 'resources'] as const)
    client.setNotificationHandler(`notifications/${kind}/list_changed`, () => onChanged(kind));
  if (!isModern || kinds.length === 0) return;
  const over = new AbortController();
  void closed.then(() => over.abort());
  const opened = Promise.withResolvers<void>();
  const filter = Object.fromEntries(kinds.map((kind) => [`${kind}ListChanged`, true] as const));

  async function follow(): Promise<void> {
    for (let wait = againMs.first; !over.signal.aborted; wait = Math.min(wait * 2, againMs.last)) {
      const stream = await client.listen(filter, { ...noTimeout, signal: over.signal });
      opened.resolve();
      const began = clock.now();
      await stream.closed;
      if (over.signal.aborted) return;
      check();
      if (clock.now() - began >= againMs.held) wait = againMs.first;
      await clock.sleep(wait, over.signal);
      // What changed in between is not known.
      for (const kind of kinds) onChanged(kind);
    }
  }
  // A server may refuse the stream. Then its lists are read again only when it connects or when they are stale.
  follow().catch(() => opened.resolve());
  await raceTimeout(clock, opened.promise, openMs);
}

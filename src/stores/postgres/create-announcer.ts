import type { Log } from '../../core/log.ts';
import type { Kind } from './lease.ts';
import type { Wire } from './create-wire.ts';

/** Tells who serves lanes that some became due. */
export type Announcer = Readonly<{
  /** Due in `inMs` (0: now): here at once; the other processes hear only of what is due now, and look regularly anyway. */
  announce(kind: Kind, inMs?: number): void;
  /** Gives what ends it. */
  on(kind: Kind, listener: (inMs: number) => void): () => void;
  /** Sends what was gathered. */
  close(): Promise<void>;
}>;

/** Commits that notify wait for each other, so hints go out on their own, and one stands for all of so many milliseconds. */
const gatherMs = 20;

export function createAnnouncer(wire: Wire, log: Log): Announcer {
  const listeners = { inbox: new Set<(inMs: number) => void>(), outbox: new Set<(inMs: number) => void>() };
  const pending = new Map<Kind, NodeJS.Timeout>();
  const tell = (kind: Kind, inMs: number) => [...listeners[kind]].forEach((listener) => listener(inMs));

  async function hint(kind: Kind): Promise<void> {
    clearTimeout(pending.get(kind));
    pending.delete(kind);
    await wire.send(kind, '').catch((error: unknown) => {
      log.debug({ err: error }, 'the other processes were not told of work; they look regularly');
    });
  }

  for (const kind of ['inbox', 'outbox'] as const) {
    wire.on(kind, () => tell(kind, 0));
    wire.onReturn(() => tell(kind, 0));
  }
  return {
    announce(kind, inMs = 0) {
      tell(kind, inMs);
      if (inMs > 0 || pending.has(kind)) return;
      pending.set(kind, setTimeout(() => void hint(kind), gatherMs).unref());
    },
    on(kind, listener) {
      listeners[kind].add(listener);
      return () => void listeners[kind].delete(listener);
    },
    async close() {
      await Promise.all([...pending.keys()].map(hint));
    },
  };
}

import type { Log } from '../../lib/log.ts';
import type { Kind } from './lease.ts';
import type { NotifyBus } from './create-notify-bus.ts';

/** Tells who serves lanes that some became due. */
export type Announcer = Readonly<{
  /**
   * These are due (any, where none is named), now or in `inMs`: told here at once; the other processes hear only that
   * something is due now, and look regularly anyway.
   */
  announce(kind: Kind, lanes?: readonly string[], inMs?: number): void;
  /** Gives what ends it. */
  on(kind: Kind, listener: Listener): () => void;
  /** Sends what was gathered. */
  close(): Promise<void>;
}>;

type Listener = (lanes: readonly string[] | undefined, inMs: number) => void;

/** Commits that notify wait for each other, so hints go out on their own, and one stands for all of so many milliseconds. */
const gatherMs = 20;

export function createAnnouncer(wire: NotifyBus, log: Log): Announcer {
  const listeners = { inbox: new Set<Listener>(), outbox: new Set<Listener>() };
  const pending = new Map<Kind, NodeJS.Timeout>();
  const tell = (kind: Kind, lanes: readonly string[] | undefined, inMs: number) =>
    [...listeners[kind]].forEach((listener) => listener(lanes, inMs));

  async function hint(kind: Kind): Promise<void> {
    clearTimeout(pending.get(kind));
    pending.delete(kind);
    await wire.send(kind, '').catch((error: unknown) => {
      log.debug({ err: error }, 'the other processes were not told of work; they look regularly');
    });
  }

  for (const kind of ['inbox', 'outbox'] as const) {
    wire.on(kind, () => tell(kind, undefined, 0));
    wire.onReturn(() => tell(kind, undefined, 0));
  }
  return {
    announce(kind, lanes, inMs = 0) {
      tell(kind, lanes, inMs);
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

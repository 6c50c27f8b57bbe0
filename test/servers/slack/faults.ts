/** What may go wrong with a call. */
export type Fault =
  | Readonly<{ kind: 'ratelimited'; retryAfter?: number }>
  | Readonly<{ kind: 'status'; status: number }>
  | Readonly<{ kind: 'error'; error: string }>
  | Readonly<{ kind: 'delay'; ms: number }>
  /** Carried out at once, answered so much later. */
  | Readonly<{ kind: 'late'; ms: number }>
  /** The connection is cut: before the call was carried out, or after (it was, and nobody learns of it). */
  | Readonly<{ kind: 'cut'; when: 'before' | 'after' }>
  /** Held until `release` is called. */
  | Readonly<{ kind: 'hold'; until: Promise<void> }>;

/** Faults for the next calls of a method, of any (`*`), or of the place that bytes are posted to (`upload`). */
export type Faults = Readonly<{
  /** The next call (or the next `times`) meets this. */
  next(method: string, fault: Fault, times?: number): void;
  /** Every call does, until `clear`. */
  always(method: string, fault: Fault): void;
  clear(): void;
  take(method: string): Fault | undefined;
}>;

export function createFaults(): Faults {
  const queued = new Map<string, Fault[]>();
  const standing = new Map<string, Fault>();
  return {
    next(method, fault, times = 1) {
      const queue = queued.get(method) ?? [];
      queued.set(method, [...queue, ...Array.from({ length: times }, () => fault)]);
    },
    always: (method, fault) => void standing.set(method, fault),
    clear() {
      queued.clear();
      standing.clear();
    },
    take(method) {
      const queue = [queued.get(method), queued.get('*')].find(
        (list) => list !== undefined && list.length > 0,
      );
      return queue?.shift() ?? standing.get(method) ?? standing.get('*');
    },
  };
}

import type { Store } from '../../src/store/store.ts';

/** `Store.lead` for several holders in one process: first come, first served. */
export type LeadQueue = Readonly<{
  lead: Store['lead'];
  /** Takes it from whoever leads now, as a database that counts a holder out does. */
  depose(): void;
  /** Terms that began so far. */
  terms(): number;
}>;

export function createLeadQueue(): LeadQueue {
  let last: Promise<unknown> = Promise.resolve();
  let terms = 0;
  let leading = new AbortController();
  return {
    async lead(_what, until) {
      const free = last;
      const ended = Promise.withResolvers<void>();
      last = free.then(() => ended.promise);
      await free;
      if (until.aborted) {
        ended.resolve();
        throw until.reason;
      }
      const term = new AbortController();
      leading = term;
      terms += 1;
      const end = (): void => {
        term.abort(new Error('the term ended'));
        ended.resolve();
      };
      term.signal.addEventListener('abort', () => ended.resolve(), { once: true });
      until.addEventListener('abort', end, { once: true });
      return term.signal;
    },
    depose: () => leading.abort(new Error('deposed')),
    terms: () => terms,
  };
}

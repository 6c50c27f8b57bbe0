const day = 24 * 60 * 60_000;

/** Limits that are the same for every store (Q2, Q3, M10). Times are milliseconds. */
export const bounds = {
  /** How many items may wait in one queue, besides the active one. */
  queueItems: 50,
  joinedMessages: 50,
  doneKeptMs: 7 * day,
  groupContextKeptMs: day,
  /** Counted from the end of an outbox row. */
  sentKeptMs: 7 * day,
  /** How long placeholders are kept whose outbox row never came. */
  shownKeptMs: 7 * day,
  /** Longer than any limit on uses looks back. */
  usesKeptMs: day,
  /** Counted from the end of a pending request. */
  settledKeptMs: 7 * day,
  /** Counted from the end of a routine, so that its list still shows the last outcome. */
  routinesKeptMs: 30 * day,
  /** Counted from their expiry, so that a code pasted late is still recognized (C6). */
  flowsKeptMs: day,
  /** How long outcomes of mutating calls are kept, which is longer than any run (C8). */
  outcomesKeptMs: 7 * day,
} as const;

/** Takes the place of a row's sent part after the retention. */
export const noText = '{"markdown":""}';

const day = 24 * 60 * 60_000;

/** The same for every store (Q2, Q3, M10). */
export const bounds = {
  /** Waiting items of one lane, beside the active one. */
  laneItems: 50,
  joinedMessages: 50,
  doneKeptMs: 7 * day,
  overheardKeptMs: day,
  /** From the end of an outbox row. */
  sentKeptMs: 7 * day,
  /** Placeholders of rows that never came. */
  shownKeptMs: 7 * day,
  /** Longer than any limit looks back. */
  usesKeptMs: day,
  /** From the end of a pending request. */
  settledKeptMs: 7 * day,
  /** From the end of a routine, so that its list shows the last outcome. */
  routinesKeptMs: 30 * day,
  /** After they expire: a code that is pasted late is still recognized (C6). */
  flowsKeptMs: day,
  /** Outcomes of mutating calls: longer than any run (C8). */
  outcomesKeptMs: 7 * day,
} as const;

/** Replaces the sent part of a row after the retention. */
export const noText = '{"markdown":""}';

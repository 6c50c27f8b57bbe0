const day = 24 * 60 * 60_000;

/** How much a store holds and for how long; the same for every store (Q2, Q3, M10). Times in milliseconds. */
export const bounds = {
  /** Waiting items of one lane, beside the one that is being worked on. */
  laneItems: 50,
  /** Messages joined into one item; what comes after them begins an item of its own. */
  joinedMessages: 50,
  /** A finished item's keys are remembered so long after its end. */
  doneKeptMs: 7 * day,
  overheardKeptMs: day,
  /** Sent and given-up outbox rows, counted from their end. */
  sentKeptMs: 7 * day,
  /** What a platform showed in place of a row that never came. */
  shownKeptMs: 7 * day,
  /** Uses that were counted: longer than any limit looks back. */
  usesKeptMs: day,
  /** Questions and approvals, counted from their end. */
  settledKeptMs: 7 * day,
  /** Sign-ins, counted from the end of their time: what is pasted late is still known for what it is (C6). */
  flowsKeptMs: day,
  /** Outcomes of mutating calls: longer than any run lasts (C8). */
  outcomesKeptMs: 7 * day,
} as const;

/** What is kept of the part of a row that was sent when the retention is over. */
export const noText = '{"markdown":""}';

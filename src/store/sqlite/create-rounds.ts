import type { SqliteConnection } from './open-connection.ts';

/**
 * Keeps one person's burst from delaying others (Q3). Each message has a round, and the lowest round starts first. It
 * is one after that of the message that started last, and after all waiting messages of the same person (start-time
 * fair queueing). Runs beside conversations have rounds of their own.
 */
export type Rounds = Readonly<{
  /** The round of a message that is being stored. */
  next(queue: string, sender: string): number;
  /** Notes that a message of this round starts. */
  begin(queue: string, round: number): void;
}>;

type Counter = Readonly<{ next(sender: string): number; begin(round: number): void }>;
/** Rounds of the waiting messages of one person. `beside` is 1 for runs. */
type Waiting = Readonly<{ beside: number; sender: string; first: number; last: number }>;

export function createRounds(connection: SqliteConnection): Rounds {
  const waiting = connection.prepare<Waiting>(
    `SELECT instr(queue, '~') > 0 AS beside, parts ->> '$[0].message.sender.id' AS sender, MIN(round) AS first, MAX(round) AS last
     FROM inbox INDEXED BY inbox_waiting WHERE status = 'waiting' AND json_valid(parts) GROUP BY 1, 2`,
  );
  // No round is above the number of its row, so nobody overtakes what waits for another reason.
  const newest = connection.prepare<Readonly<{ seq: number | null }>>('SELECT MAX(seq) AS seq FROM inbox');
  let counters: Readonly<{ own: Counter; beside: Counter }> | undefined;

  function of(queue: string): Counter {
    counters ??= read();
    return queue.includes('~') ? counters.beside : counters.own;
  }

  function read(): NonNullable<typeof counters> {
    const rows = waiting.all();
    const idle = newest.get()?.seq ?? 0;
    const counter = (beside: number): Counter =>
      createCounter(
        rows.filter((row) => row.beside === beside),
        idle,
      );
    return { own: counter(0), beside: counter(1) };
  }

  return {
    next: (queue, sender) => of(queue).next(sender),
    begin: (queue, round) => of(queue).begin(round),
  };
}

function createCounter(waiting: readonly Waiting[], idle: number): Counter {
  let started = waiting.length === 0 ? idle : Math.min(...waiting.map(({ first }) => first)) - 1;
  /** The last round of each person who has waiting messages. */
  const lastOf = new Map(waiting.map(({ sender, last }) => [sender, last]));

  return {
    next(sender) {
      const round = Math.max(started, lastOf.get(sender) ?? 0) + 1;
      lastOf.set(sender, round);
      return round;
    },
    begin(round) {
      if (round <= started) return;
      started = round;
      for (const [sender, last] of lastOf) if (last <= round) lastOf.delete(sender);
    },
  };
}

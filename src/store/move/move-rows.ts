import { createHash } from 'node:crypto';
import { OperatorError } from '../../core/errors.ts';

/** A row of any table: columns by name, true and false as 1 and 0, without the words of an index. */
export type MovedRow = Readonly<Record<string, string | number | null>>;

export type MovedTable = Readonly<{
  name: string;
  columns: readonly string[];
}>;

/** One side of a move, which has a transaction of its own. */
export type MovingStore = Readonly<{
  /** Tables in an order in which rows can be added: what others refer to comes first. */
  tables: readonly MovedTable[];
  /** Reads a few rows at a time, in the order of their numbers if they have one. */
  read(table: MovedTable): AsyncIterable<readonly MovedRow[]>;
  /** The highest number that a row of the table ever had. */
  lastNumber(table: MovedTable): Promise<number>;
}>;

/** Writes rows into a new store. */
export type MoveWriter = Readonly<{
  add(table: MovedTable, rows: readonly MovedRow[]): Promise<void>;
  setLastNumber(table: MovedTable, last: number): Promise<void>;
}>;

export type MoveTarget = MovingStore & MoveWriter;

/** What was moved of one table. `checksum` covers all rows, in any order. */
export type Moved = Readonly<{ table: string; rows: number; checksum: string }>;

/** How many rows are in memory at a time. */
export const rowsAtOnce = 64;

/**
 * Copies every table and compares both sides row by row. Throws if they differ, so that `to` is rolled back. It reports
 * to `onRows` how many rows were added so far.
 */
export async function moveRows(
  from: MovingStore,
  to: MoveTarget,
  { signal, onRows }: Readonly<{ signal: AbortSignal; onRows: (table: string, rows: number) => void }>,
): Promise<readonly Moved[]> {
  const moved: Moved[] = [];
  for (const table of from.tables) {
    const tally = createTally(table);
    for await (const rows of from.read(table)) {
      signal.throwIfAborted();
      await to.add(table, rows);
      rows.forEach(tally.add);
      onRows(table.name, tally.sum().rows);
    }
    await to.setLastNumber(table, await from.lastNumber(table));
    const there = createTally(table);
    for await (const rows of to.read(table)) {
      signal.throwIfAborted();
      rows.forEach(there.add);
    }
    const [before, after] = [tally.sum(), there.sum()];
    if (before.rows !== after.rows || before.checksum !== after.checksum)
      throw new OperatorError(
        `${table.name} is not the same on both sides (${before.rows} and ${after.rows} rows), so nothing was moved. Please report this.`,
      );
    moved.push(before);
  }
  return moved;
}

/** Sums up rows regardless of their order, because both databases sort text in their own way. */
function createTally({ name, columns }: MovedTable): Readonly<{ add(row: MovedRow): void; sum(): Moved }> {
  let rows = 0;
  let total = 0n;
  const sorted = columns.toSorted();
  return {
    add(row) {
      const text = JSON.stringify(sorted.map((column) => row[column]));
      rows += 1;
      total += BigInt(`0x${createHash('sha256').update(text).digest('hex')}`);
    },
    sum: () => ({
      table: name,
      rows,
      checksum: BigInt.asUintN(256, total).toString(16).padStart(64, '0').slice(-16),
    }),
  };
}

/** The value as every database can hold it: text in PostgreSQL has no NUL. */
export function withoutNul(value: string | number | null): string | number | null {
  return typeof value === 'string' && value.includes('\u0000') ? value.replaceAll('\u0000', '') : value;
}

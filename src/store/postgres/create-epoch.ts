import type { Database } from './open-database.ts';

/**
 * Changes when the server restarts after a crash and may have lost commits. A queue claimed in one epoch is lost with
 * it.
 */
export type Epoch = Readonly<{
  /** The epoch, up to a second old. A queue claimed under an old epoch is lost at its first write. */
  current(): Promise<string>;
  forget(): void;
}>;

const freshMs = 1_000;

export function createEpoch({ query, onLoss }: Database): Epoch {
  let known: Readonly<{ id: Promise<string>; at: number }> | undefined;

  async function read(): Promise<string> {
    const { rows } = await query<Readonly<{ id: string }>>('SELECT skillet.current_epoch() AS id');
    if (rows[0] === undefined) throw new Error('The database names no epoch');
    return rows[0].id;
  }

  const forget = (): void => void (known = undefined);
  onLoss(forget);
  return {
    forget,
    current() {
      const now = performance.now();
      if (known !== undefined && now - known.at <= freshMs) return known.id;
      const id = read();
      known = { id, at: now };
      id.catch(forget);
      return id;
    },
  };
}

import type { Database } from './open-database.ts';

/**
 * The stretch of the server's life in which nothing that was committed to memory was forgotten. Lanes are claimed in one, and
 * lost with it: a lane continues only where all of its steps are still there.
 */
export type Epoch = Readonly<{
  /** As it was when a connection was last lost, or a second ago: a lane that is claimed under an older one is lost with its first write. */
  current(): Promise<string>;
  /** It may be another one: something was lost. */
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

import type { Store } from './store.ts';

/** Repeats a call once the database is back (`StoreHealth.patient`). */
type Patient = <T>(call: () => Promise<T>, how: Readonly<{ repeatable: boolean }>) => Promise<T>;

export type Values = Readonly<{
  get<T>(key: string): Promise<T | undefined>;
  set(key: string, value: unknown): Promise<unknown>;
  delete(key: string): Promise<unknown>;
  iterator(): AsyncIterable<readonly unknown[]>;
}>;

/** Like `Store.keyed`, for values that must not be lost: calls wait for the database (Q11). */
export function patientKeyed(
  keyed: Store['keyed'],
  { patient }: Readonly<{ patient: Patient }>,
): (namespace: string) => Values {
  const repeatable = { repeatable: true };
  return (namespace) => {
    const stored = keyed(namespace);
    return {
      get: <T>(key: string) => patient(() => stored.get<T>(key), repeatable),
      set: (key, value) => patient(() => stored.set(key, value), repeatable),
      delete: (key) => patient(() => stored.delete(key), repeatable),
      async *iterator() {
        yield* await patient(() => allOf(stored.iterator()), repeatable);
      },
    };
  };
}

async function allOf<Row>(rows: AsyncIterable<Row>): Promise<readonly Row[]> {
  const all: Row[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

import type { Store } from '../store/store.ts';

/** Who heard the first words, by ids of people (U19). */
export type ToldPeople = Readonly<{
  has(person: string): Promise<boolean>;
  add(person: string): Promise<void>;
}>;

export function createToldPeople(store: Store): ToldPeople {
  const told = store.keyed('first-words');
  return {
    has: (person) => told.has(person),
    add: async (person) => void (await told.set(person, true)),
  };
}

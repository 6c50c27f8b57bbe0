import { createToldPeople } from '../../src/replies/told-people.ts';
import { openStore } from '../../src/store/open-store.ts';

function upTo(last: number, id: (n: number) => string, first = 1): readonly string[] {
  return Array.from({ length: last - first + 1 }, (_, at) => id(first + at));
}

/** People of the test servers, as these number them, and ids that tests choose. */
const people = [
  ...upTo(50, (n) => `telegram:${n}`),
  ...upTo(1_020, (n) => `telegram:${n}`, 1_001),
  ...upTo(4_000_060, (n) => `telegram:${n}`, 4_000_001),
  ...['telegram:100', 'telegram:4711', 'telegram:4712'],
  ...['U', 'W'].flatMap((kind) =>
    upTo(60, (n) => `slack:${kind}${n.toString(36).toUpperCase().padStart(8, '0')}`),
  ),
];

/**
 * Stores that the people of tests met the bot before, as a bot that told them stored it (U19). Their first message is then
 * answered like any other. Tests of first contact do without.
 */
export async function knowPeople(url: string): Promise<void> {
  if (url === 'sqlite::memory:') return;
  const store = await openStore(url);
  const told = createToldPeople(store);
  await Promise.all(people.map(told.add));
  await store.close();
}

import { inspect } from 'node:util';

/** A list that can be waited for: tests await the thing itself and never sleep. */
export type Watch<Item> = Readonly<{
  add(item: Item): void;
  all(): readonly Item[];
  /** The first item, past or to come, that matches. Rejects after two minutes, and says what came last. */
  until(matches: (item: Item) => boolean): Promise<Item>;
  /** Resolves when `count` items match; rejects as `until` does. */
  untilCount(count: number, matches?: (item: Item) => boolean): Promise<readonly Item[]>;
}>;

const patienceMs = 120_000;

export function createWatch<Item>(): Watch<Item> {
  const items: Item[] = [];
  const waiting = new Set<() => void>();
  const check = <Result>(find: () => Result | undefined): Promise<Result> =>
    new Promise((resolve, reject) => {
      const late = new Error(`waited ${patienceMs} ms in vain`);
      const timer = setTimeout(() => {
        waiting.delete(look);
        late.message += items.slice(-5).map(lineOf).join('');
        reject(late);
      }, patienceMs);
      const look = (): void => {
        const found = find();
        if (found === undefined) return;
        waiting.delete(look);
        clearTimeout(timer);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return {
    add(item) {
      items.push(item);
      for (const look of [...waiting]) look();
    },
    all: () => [...items],
    until: (matches) => check(() => items.find((item) => matches(item))),
    untilCount: (count, matches = () => true) =>
      check(() => {
        const found = items.filter((item) => matches(item));
        return found.length >= count ? found : undefined;
      }),
  };
}

function lineOf(item: unknown): string {
  return `\n  ${inspect(item, { breakLength: Infinity }).slice(0, 400)}`;
}

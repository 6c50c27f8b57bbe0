/** A list that can be waited for: tests await the thing itself and never sleep. */
export type Watch<Item> = Readonly<{
  add(item: Item): void;
  all(): readonly Item[];
  /** The first item, past or to come, that matches. */
  until(matches: (item: Item) => boolean): Promise<Item>;
  /** Resolves when `count` items match. */
  untilCount(count: number, matches?: (item: Item) => boolean): Promise<readonly Item[]>;
}>;

export function createWatch<Item>(): Watch<Item> {
  const items: Item[] = [];
  const waiting = new Set<() => void>();
  const check = <Result>(find: () => Result | undefined): Promise<Result> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = find();
        if (found === undefined) return;
        waiting.delete(look);
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

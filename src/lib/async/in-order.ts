/** Runs tasks of one key one after another, also after a failure. Tasks of different keys run side by side. */
export function createInOrder(): (key: string, task: () => Promise<void>) => Promise<void> {
  const tails = new Map<string, Promise<void>>();
  return async (key, task) => {
    const before = tails.get(key);
    const mine = before === undefined ? task() : before.then(task, task);
    tails.set(key, mine);
    try {
      return await mine;
    } finally {
      if (tails.get(key) === mine) tails.delete(key);
    }
  };
}

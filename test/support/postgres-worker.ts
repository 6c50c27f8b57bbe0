import { createInterface } from 'node:readline';
import { openStore } from '../../src/store/open-store.ts';

/**
 * A process on a PostgreSQL store, told what to do line by line: `serve` (takes items, says which, and finishes the one
 * that `finish` names), `lead WHAT`. It says what happened, a line each.
 */
const store = await openStore(process.argv[2] ?? '');
const finished = new Map<string, PromiseWithResolvers<void>>();
const say = (line: string) => process.stdout.write(`${line}\n`);

function finishing(key: string): PromiseWithResolvers<void> {
  const one = finished.get(key) ?? Promise.withResolvers<void>();
  finished.set(key, one);
  return one;
}

function serve(): void {
  store.inbox.startWorker({
    channels: ['telegram'],
    concurrency: 8,
    async run(queue, lost) {
      lost.addEventListener('abort', () => say(`lost ${queue}`));
      const item = await store.inbox.take(queue, Date.now());
      if (item === undefined) return;
      say(`taken ${item.key}`);
      await finishing(item.key).promise;
      await store.commit({ done: item.key }).then(
        () => say(`done ${item.key}`),
        (error: unknown) =>
          say(`refused ${item.key}: ${error instanceof Error ? error.message : String(error)}`),
      );
    },
  });
}

async function lead(what: string): Promise<void> {
  const leading = await store.lead(what, new AbortController().signal);
  say(`leads ${what}`);
  leading.addEventListener('abort', () => say(`leads ${what} no more`));
}

say('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const [word, rest = ''] = line.split(' ', 2);
  if (word === 'serve') serve();
  if (word === 'finish') finishing(rest).resolve();
  if (word === 'lead') await lead(rest);
}
await store.close();

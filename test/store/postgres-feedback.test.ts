import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { thumb } from '../support/feedback-contract.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';

const server = await startPostgres();
after(() => server?.close());

test(
  'U17 Q9 of thumbs that several processes take at once the last by the platform’s clock counts, once',
  { skip: server === undefined ? noPostgres : false },
  async (t) => {
    const url = (await server?.database()) ?? '';
    const stores = await Promise.all([1, 2, 3].map(() => openStore(url)));
    t.after(async () => {
      for (const store of stores) await store.close();
    });
    const storeOf = (n: number) => stores[n % 3] ?? assert.fail();
    const events = Array.from({ length: 60 }, (_, n) => ({
      at: 1_000 + ((n * 37) % 60),
      who: ['telegram:1', 'telegram:2'][n % 2] ?? '',
    }));
    await Promise.all(
      events.map(({ at, who }, n) =>
        storeOf(n).feedback.give(thumb(who, at, { sender: who, thumb: at % 3 === 0 ? 'up' : 'down' })),
      ),
    );
    const newest = (who: string) => Math.max(...events.filter((one) => one.who === who).map(({ at }) => at));
    for (const store of stores) {
      const all = await store.feedback.list();
      assert.deepEqual(
        all.map(({ sender, at, thumb: given }) => [sender, at, given]).sort(),
        ['telegram:1', 'telegram:2'].map((who) => [who, newest(who), newest(who) % 3 === 0 ? 'up' : 'down']),
      );
    }
    await storeOf(0).forget('telegram:1');
    assert.deepEqual(
      (await storeOf(2).feedback.list()).map(({ sender }) => sender),
      ['telegram:2'],
    );
  },
);

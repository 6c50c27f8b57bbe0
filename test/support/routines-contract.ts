import assert from 'node:assert/strict';
import type { Routine, RoutineDefinition } from '../../src/store/routines.ts';
import type { Store } from '../../src/store/store.ts';
import { equalData } from './equal-data.ts';
import { makeMessage } from './make-message.ts';
import type { StoreTest } from './store-contract.ts';

const room = { channel: 'telegram', chat: '42' };
const ada = { id: 'telegram:42', name: 'Ada "ä"', kind: 'person', timezone: 'Europe/Berlin' } as const;

export function makeRoutine(
  id: string,
  change: Partial<Omit<Routine, 'definition'>> & Readonly<{ definition?: Partial<RoutineDefinition> }> = {},
): Omit<Routine, 'failures' | 'last'> {
  const { definition, ...more } = change;
  return {
    id,
    state: 'active',
    dueAt: 1_000,
    ...more,
    definition: {
      name: 'Digest',
      when: { kind: 'cron', expression: '0 9 * * 1' },
      timezone: 'Europe/Berlin',
      task: 'Say what happened last week.',
      catchUp: 'one',
      conversation: room,
      chatType: 'private',
      external: false,
      creator: ada,
      from: { words: 'typed' },
      createdAt: 1,
      ...definition,
    },
  };
}

function message(id: string, due: number) {
  return makeMessage({
    id: `routine:${id}:${due}`,
    conversation: room,
    text: 'Say what happened last week.',
  });
}

async function keysWaiting(store: Store): Promise<readonly string[]> {
  return (await store.inbox.list('waiting')).map(({ key }) => key);
}

/** What every store promises of routines (N1). */
export function routinesContract(storeTest: StoreTest): void {
  storeTest('N1 a routine comes back as it was added, once, in the order of time', async (store) => {
    const { routines } = store;
    const second = makeRoutine('b', {
      dueAt: 2_000,
      definition: { createdAt: 5, quiet: true, skill: 'dice' },
    });
    assert.equal(await routines.add(second, 20), 'added');
    assert.equal(await routines.add(makeRoutine('a'), 20), 'added');
    assert.equal(await routines.add(makeRoutine('a', { dueAt: 7 }), 20), 'known');
    const paused = makeRoutine('c', { state: 'paused', dueAt: undefined, definition: { createdAt: 9 } });
    assert.equal(await routines.add(paused, 20), 'added');
    equalData(await routines.find('b'), { ...second, failures: 0 });
    assert.deepEqual(
      (await routines.of(ada.id)).map(({ id }) => id),
      ['a', 'b', 'c'],
    );
    assert.deepEqual(
      (await routines.all()).map(({ id }) => id),
      ['a', 'b', 'c'],
    );
    assert.deepEqual(await routines.of('telegram:421'), []);
    assert.equal(await routines.nextDue(), 1_000);
    assert.deepEqual(
      (await routines.due(1_999, 10)).map(({ id }) => id),
      ['a'],
    );
    assert.deepEqual(
      (await routines.due(2_000, 10)).map(({ id }) => id),
      ['a', 'b'],
    );
    assert.deepEqual(
      (await routines.due(9_000, 1)).map(({ id }) => id),
      ['a'],
    );
  });

  storeTest(
    'N3 a person has no more routines than the limit, side by side too; ended ones leave room, paused ones do not',
    async (store) => {
      const many = ['a', 'b', 'c', 'd', 'e'].map((id) => store.routines.add(makeRoutine(id), 3));
      assert.deepEqual((await Promise.all(many)).toSorted(), ['added', 'added', 'added', 'full', 'full']);
      const [first] = await store.routines.of(ada.id);
      assert.ok(first !== undefined);
      await store.routines.change(first.id, { definition: first.definition, state: 'ended' });
      assert.equal(await store.routines.add(makeRoutine('f'), 3), 'added');
      await store.routines.change('f', { definition: first.definition, state: 'paused' });
      assert.equal(await store.routines.add(makeRoutine('g'), 3), 'full');
      const bob = makeRoutine('h', { definition: { creator: { ...ada, id: 'telegram:7' } } });
      assert.equal(await store.routines.add(bob, 3), 'added');
    },
  );

  storeTest(
    'N1 a firing stores its message and moves the due time in one step, once for each time',
    async (store) => {
      await store.routines.add(makeRoutine('a'), 20);
      const firing = { id: 'a', message: message('a', 1_000), moves: { from: 1_000, to: 5_000 } };
      const fired = await Promise.all([store.fire(firing), store.fire(firing), store.fire(firing)]);
      assert.equal(fired.filter(Boolean).length, 1, 'of all who try, one fires');
      assert.equal(await store.fire(firing), false);
      assert.deepEqual(await keysWaiting(store), ['routine:a:1000']);
      assert.equal((await store.routines.find('a'))?.dueAt, 5_000);
      assert.deepEqual(await store.routines.due(4_999, 10), []);
      assert.equal((await store.inbox.take('telegram:42', Date.now() + 60_000))?.key, 'routine:a:1000');
    },
  );

  storeTest('N1 a firing after the last time ends the routine', async (store) => {
    await store.routines.add(makeRoutine('a'), 20);
    assert.equal(
      await store.fire({ id: 'a', message: message('a', 1_000), moves: { from: 1_000, to: undefined } }),
      true,
    );
    const ended = await store.routines.find('a');
    assert.deepEqual([ended?.state, ended?.dueAt], ['ended', undefined]);
    assert.equal(await store.routines.nextDue(), undefined);
  });

  storeTest('N1 a paused, changed or removed routine fires nothing of before', async (store) => {
    const { routines } = store;
    await routines.add(makeRoutine('a'), 20);
    const { definition } = makeRoutine('a');
    const moves = { from: 1_000, to: 5_000 };
    assert.equal(await routines.change('a', { definition, state: 'paused' }), true);
    assert.equal(await store.fire({ id: 'a', message: message('a', 1_000), moves }), false);
    assert.equal(await routines.change('a', { definition, state: 'active', dueAt: 3_000 }), true);
    assert.equal(await store.fire({ id: 'a', message: message('a', 1_000), moves }), false);
    assert.equal((await routines.remove('a'))?.id, 'a');
    assert.equal(await routines.remove('a'), undefined);
    assert.equal(await routines.change('a', { definition, state: 'active', dueAt: 1 }), false);
    assert.equal(
      await store.fire({ id: 'a', message: message('a', 3_000), moves: { from: 3_000, to: 9_000 } }),
      false,
    );
    assert.equal(await store.fire({ id: 'a', message: message('a', 4_000) }), false);
    assert.deepEqual(await keysWaiting(store), []);
  });

  storeTest('N1 a firing by hand leaves the due time, and counts once a key', async (store) => {
    await store.routines.add(makeRoutine('a', { state: 'paused', dueAt: undefined }), 20);
    for (let again = 0; again < 2; again++)
      assert.equal(await store.fire({ id: 'a', message: message('a', 77) }), true);
    assert.deepEqual(await keysWaiting(store), ['routine:a:77']);
    assert.equal((await store.routines.find('a'))?.state, 'paused');
  });

  storeTest(
    'N4 failures in a row are counted once for each firing, and an answer ends the row',
    async (store) => {
      const { routines } = store;
      await routines.add(makeRoutine('a'), 20);
      const outcome = (key: string, how: 'failed' | 'answered') => ({ key, due: 1, at: 2, how }) as const;
      assert.equal(await routines.settle('a', outcome('k1', 'failed')), 1);
      assert.equal(await routines.settle('a', outcome('k1', 'failed')), 1, 'repeated after a crash');
      assert.equal(await routines.settle('a', outcome('k2', 'failed')), 2);
      assert.equal(await routines.settle('a', outcome('k3', 'answered')), 0);
      assert.equal(await routines.settle('a', outcome('k4', 'failed')), 1);
      equalData((await routines.find('a'))?.last, outcome('k4', 'failed'));
      assert.equal(await routines.settle('gone', outcome('k5', 'failed')), undefined);
      const { definition } = makeRoutine('a');
      await routines.change('a', { definition, state: 'active', dueAt: 9 });
      assert.equal((await routines.find('a'))?.failures, 1, 'a change is no success');
      await routines.change('a', { definition, state: 'paused' });
      assert.equal((await routines.find('a'))?.failures, 1, 'a repeated turn finds it');
      await routines.change('a', { definition, state: 'active', dueAt: 9 });
      assert.equal((await routines.find('a'))?.failures, 0);
    },
  );

  storeTest('N5 a skipped time is written down and fires nothing', async (store) => {
    await store.routines.add(makeRoutine('a'), 20);
    const last = { key: 'routine:a:1000', due: 1_000, at: 4_000, how: 'skipped', note: '3' } as const;
    assert.equal(await store.routines.skip('a', { from: 1_000, to: 5_000 }, last), true);
    assert.equal(await store.routines.skip('a', { from: 1_000, to: 5_000 }, last), false);
    const skipped = await store.routines.find('a');
    equalData([skipped?.dueAt, skipped?.last, skipped?.failures], [5_000, last, 0]);
    assert.deepEqual(await keysWaiting(store), []);
  });

  storeTest('Q12 what a person set up goes with them, and ended routines go after a while', async (store) => {
    const { routines } = store;
    const bob = { ...ada, id: 'telegram:421' };
    await routines.add(makeRoutine('a'), 20);
    await routines.add(makeRoutine('b', { definition: { creator: bob } }), 20);
    assert.equal((await store.forget(ada.id)).routines, 1);
    assert.deepEqual(
      (await routines.all()).map(({ id }) => id),
      ['b'],
    );
    assert.deepEqual(await routines.removeOf(bob.id), ['b']);
    await routines.add(makeRoutine('c'), 20);
    await routines.add(makeRoutine('d', { state: 'ended', dueAt: undefined }), 20);
    await store.prune(Date.now() + 29 * 24 * 3_600_000, 1e15);
    assert.equal((await routines.all()).length, 2);
    await store.prune(Date.now() + 31 * 24 * 3_600_000, 1e15);
    assert.deepEqual(
      (await routines.all()).map(({ id }) => id),
      ['c'],
    );
  });
}

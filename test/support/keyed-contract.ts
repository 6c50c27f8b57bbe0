import assert from 'node:assert/strict';
import type Keyv from 'keyv';
import type { StoreTest } from './store-contract.ts';

async function entriesOf(keyed: Keyv): Promise<Readonly<Record<string, unknown>>> {
  const found: Record<string, unknown> = {};
  for await (const [key, value] of keyed.iterator()) found[String(key)] = value;
  return found;
}

/** What Keyv promises over every store (Q8). */
export function keyedContract(storeTest: StoreTest): void {
  storeTest('Q8 a key gives the value that was set last, of any JSON kind', async (store) => {
    const keyed = store.keyed('kinds');
    const values = { text: 'ä "q" \u0000 🦉', empty: '', zero: 0, no: false, list: [1, { a: null }] };
    for (const [key, value] of Object.entries(values)) {
      assert.equal(await keyed.set(key, 'before'), true);
      assert.equal(await keyed.set(key, value), true);
      assert.deepEqual(await keyed.get(key), value);
    }
    assert.deepEqual(await entriesOf(keyed), values);
    assert.equal(await keyed.get('none'), undefined);
    assert.equal(await keyed.has('none'), false);
    assert.equal(await keyed.has('zero'), true);
  });

  storeTest('Q8 deleting says whether there was anything, and leaves the rest', async (store) => {
    const keyed = store.keyed('gone');
    await keyed.set('a', 1);
    await keyed.set('b', 2);
    assert.equal(await keyed.delete('a'), true);
    assert.equal(await keyed.delete('a'), false);
    assert.equal(await keyed.get('a'), undefined);
    assert.equal(await keyed.get('b'), 2);
  });

  storeTest('Q8 many keys at once answer in the order they were asked for', async (store) => {
    const keyed = store.keyed('many');
    await keyed.setMany([
      { key: 'a', value: 1 },
      { key: 'b', value: 2 },
      { key: 'c', value: 3 },
    ]);
    assert.deepEqual(await keyed.get(['c', 'none', 'a']), [3, undefined, 1]);
    assert.deepEqual(await keyed.has(['none', 'b']), [false, true]);
    assert.deepEqual(await keyed.delete(['none', 'b']), [false, true]);
    assert.deepEqual(await entriesOf(keyed), { a: 1, c: 3 });
  });

  storeTest('Q8 namespaces know nothing of each other', async (store) => {
    const [one, two, odd] = [store.keyed('one'), store.keyed('two'), store.keyed(`one'%:_`)];
    await one.set('k', 1);
    await two.set('k', 2);
    await odd.set('k', 3);
    assert.deepEqual([await one.get('k'), await two.get('k'), await odd.get('k')], [1, 2, 3]);
    await one.clear();
    assert.deepEqual(await entriesOf(one), {});
    assert.deepEqual(await entriesOf(two), { k: 2 });
    assert.deepEqual(await entriesOf(odd), { k: 3 });
    assert.equal(await store.keyed('two').get('k'), 2, 'a second view of a namespace sees the same');
  });

  storeTest('Q8 a value is gone after its time to live, for every way of looking', async (store) => {
    const keyed = store.keyed('ttl');
    await keyed.set('lasting', 1);
    const hour = 3_600_000;
    await keyed.set('long', 2, hour);
    await keyed.setRaw('over', { value: 3, expires: Date.now() - 1 });
    assert.equal(await keyed.get('over'), undefined);
    assert.equal(await keyed.has('over'), false);
    assert.deepEqual(await keyed.get(['over', 'long', 'lasting']), [undefined, 2, 1]);
    assert.deepEqual(await entriesOf(keyed), { lasting: 1, long: 2 });
    const raw = await keyed.getRaw('long');
    assert.ok(typeof raw === 'object' && Math.abs((raw.expires ?? 0) - Date.now() - hour) < 60_000);
    await keyed.set('over', 4);
    assert.equal(await keyed.get('over'), 4, 'a new value must not take over the old end');
    await store.prune(Date.now() + 2 * hour, Infinity);
    assert.deepEqual(await entriesOf(keyed), { lasting: 1, over: 4 });
  });
}

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { wordsWithHolder } from '../../src/store/postgres/memory-tables.ts';
import { schema } from '../../src/store/postgres/schema.ts';
import { openStore } from '../../src/store/open-store.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { storeContract } from '../support/store-contract.ts';

const server = await startPostgres();
if (server === undefined) {
  test('Q8 the PostgreSQL store keeps the store contract', { skip: noPostgres }, () => undefined);
} else {
  after(() => server.close());
  const url = await server.database();
  storeContract(async () => {
    const store = await openStore(url);
    // One database for all: a fresh one each would take longer than the tests.
    await server.run(
      url,
      `SET session_replication_role = replica; DO $$ DECLARE full_name text; BEGIN
        FOR full_name IN SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
          WHERE schemaname = 'skillet' AND tablename NOT IN ('version', 'health', 'running') OR tablename = 'job_common'
        LOOP EXECUTE 'DELETE FROM ' || full_name; END LOOP; END $$`,
    );
    return store;
  });

  test('Q10 K5 what an older version put into the index of words is found, by its holder alone', async (t) => {
    const older = schema.slice(0, schema.indexOf(wordsWithHolder));
    const place = await server.database();
    await server.run(
      place,
      `CREATE SCHEMA skillet; CREATE TABLE skillet.version (version integer NOT NULL);
      INSERT INTO skillet.version VALUES (${older.length}); ${older.join(';')};`,
    );
    const holder = 'chat telegram:-100';
    const said = {
      conversation: { channel: 'telegram', chat: '-100' },
      name: 'Ada',
      text: 'green tea',
      at: 5,
    };
    const words = [`holder${Buffer.from(holder).toString('hex')}`, 'green', 'tea'];
    await server.run(
      place,
      `INSERT INTO skillet.said (holder, transcript, asker, said, words)
      VALUES ($1, 'telegram:-100', 'telegram:42', $2, array_to_tsvector($3::text[]))`,
      [holder, JSON.stringify(said), words],
    );
    const store = await openStore(place);
    t.after(() => store.close());
    await store.commit({
      said: [{ ...said, holder, transcript: 'telegram:-100', asker: 'telegram:42', text: 'greenest tea' }],
    });
    const found = async (text: string, of: Parameters<typeof store.memories.search>[0] = holder) =>
      (await store.memories.search(of, text, 9)).map((one) => one.text);
    assert.deepEqual(await found('green tea'), ['greenest tea', 'green tea']);
    assert.deepEqual(await found('tea kettle'), ['greenest tea', 'green tea']);
    assert.deepEqual(await found('green', 'chat telegram:-1'), []);
    assert.deepEqual(await found(words[0] ?? ''), [], 'the holder is no word');
  });
}

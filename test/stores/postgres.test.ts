import { after, test } from 'node:test';
import { openStore } from '../../src/stores/open-store.ts';
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
      `DO $$ BEGIN EXECUTE (
      SELECT 'TRUNCATE ' || string_agg(format('%I.%I', schemaname, tablename), ', ') FROM pg_tables
      WHERE schemaname = 'skillet' AND tablename NOT IN ('version', 'health') OR tablename = 'job_common'
    ); END $$`,
    );
    return store;
  });
}

import { after, test } from 'node:test';
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
          WHERE schemaname = 'skillet' AND tablename NOT IN ('schema_version', 'health', 'running') OR tablename = 'job_common'
        LOOP EXECUTE 'DELETE FROM ' || full_name; END LOOP; END $$`,
    );
    return store;
  });
}

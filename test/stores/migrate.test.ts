import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrate } from '../../src/stores/embedded/migrate.ts';
import { openConnection } from '../../src/stores/embedded/open-connection.ts';

test('Q10 a store of an older version is brought up to date with what it holds, once', () => {
  const connection = openConnection(':memory:');
  const steps = ['CREATE TABLE a (x TEXT) STRICT', `ALTER TABLE a ADD COLUMN y TEXT NOT NULL DEFAULT 'new'`];
  migrate(connection, steps.slice(0, 1), 's.db');
  connection.exec(`INSERT INTO a (x) VALUES ('kept')`);
  migrate(connection, steps, 's.db');
  migrate(connection, steps, 's.db');
  assert.deepEqual({ ...connection.prepare<object>('SELECT * FROM a').get() }, { x: 'kept', y: 'new' });
  connection.close();
});

test('Q10 a step of a migration that fails leaves the version before it', () => {
  const connection = openConnection(':memory:');
  const steps = ['CREATE TABLE a (x TEXT) STRICT', 'CREATE TABLE b (x TEXT) STRICT; CREATE TABLE a (x TEXT)'];
  assert.throws(() => migrate(connection, steps, 's.db'), /already exists/);
  const tables = connection.prepare<{ name: string }>('SELECT name FROM sqlite_schema').all();
  assert.deepEqual(
    tables.map(({ name }) => name),
    ['a'],
  );
  assert.equal(connection.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version, 1);
  connection.close();
});

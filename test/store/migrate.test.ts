import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrateSqlite } from '../../src/store/sqlite/migrate.ts';
import { sqliteSchema } from '../../src/store/sqlite/schema.ts';
import { openConnection } from '../../src/store/sqlite/open-connection.ts';

test('Q10 a store of an older version is brought up to date with what it holds, once', () => {
  const connection = openConnection(':memory:');
  const steps = ['CREATE TABLE a (x TEXT) STRICT', `ALTER TABLE a ADD COLUMN y TEXT NOT NULL DEFAULT 'new'`];
  migrateSqlite(connection, steps.slice(0, 1), 's.db');
  connection.exec(`INSERT INTO a (x) VALUES ('kept')`);
  migrateSqlite(connection, steps, 's.db');
  migrateSqlite(connection, steps, 's.db');
  assert.deepEqual({ ...connection.prepare<object>('SELECT * FROM a').get() }, { x: 'kept', y: 'new' });
  connection.close();
});

test('Q10 an upgrade of which one step fails leaves the database as it was', () => {
  const connection = openConnection(':memory:');
  const steps = [
    'CREATE TABLE a (x TEXT) STRICT',
    'CREATE TABLE b (x TEXT) STRICT',
    'CREATE TABLE a (x TEXT)',
  ];
  migrateSqlite(connection, steps.slice(0, 1), 's.db');
  assert.throws(() => migrateSqlite(connection, steps, 's.db'), /already exists/);
  const tables = connection.prepare<{ name: string }>('SELECT name FROM sqlite_schema').all();
  assert.deepEqual(
    tables.map(({ name }) => name),
    ['a'],
  );
  assert.equal(connection.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version, 1);
  connection.close();
});

test('Q10 a store from before the first release is refused with what to do, and stays as it was', () => {
  const connection = openConnection(':memory:');
  connection.exec(
    'PRAGMA application_id = 0x536b696c; PRAGMA user_version = 10; CREATE TABLE pending_requests (id TEXT)',
  );
  assert.throws(() => migrateSqlite(connection, sqliteSchema, 's.db'), {
    name: 'OperatorError',
    message: /^s\.db is from a Skillet from before its first release.* Move it away, /,
  });
  assert.equal(connection.prepare<{ user_version: number }>('PRAGMA user_version').get()?.user_version, 10);
  connection.close();
});

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { systemClock } from '../../src/lib/clock.ts';
import { createEmbeddedStore } from '../../src/store/sqlite/create-embedded-store.ts';
import { migrateSqlite } from '../../src/store/sqlite/migrate.ts';
import { sqliteSchema } from '../../src/store/sqlite/schema.ts';
import { openConnection, type SqliteConnection } from '../../src/store/sqlite/open-connection.ts';
import { makeMessage } from '../support/make-message.ts';
import { quietLog } from '../support/quiet-log.ts';

/** SQLite's number for how it syncs: 1 is normal, 2 is full. */
function syncOf(connection: SqliteConnection): number | undefined {
  return connection.prepare<{ synchronous: number }>('PRAGMA synchronous').get()?.synchronous;
}

test('Q8 accepting a message is committed with full sync, every other write with normal', async () => {
  const connection = openConnection(':memory:');
  migrateSqlite(connection, sqliteSchema, ':memory:');
  const syncs: (number | undefined)[] = [];
  const watched: SqliteConnection = {
    ...connection,
    write: (survives, work) =>
      connection.write(survives, () => {
        syncs.push(syncOf(connection));
        return work();
      }),
  };
  const store = createEmbeddedStore(watched, {
    clock: systemClock,
    log: quietLog(),
    release: () => undefined,
  });
  const syncBy = async (write: () => Promise<unknown>) => {
    syncs.length = 0;
    await write();
    return syncs;
  };
  for (const id of ['a', 'b']) {
    assert.deepEqual(await syncBy(() => store.inbox.accept(makeMessage({ id }), { now: 1 })), [2]);
    assert.deepEqual(await syncBy(() => store.inbox.replace(makeMessage({ id }))), [2]);
    assert.deepEqual(await syncBy(() => store.inbox.take('telegram:42', 1)), [1]);
    assert.deepEqual(await syncBy(() => store.commit({ done: id })), [1]);
    assert.deepEqual(await syncBy(() => store.keyed('x').set('k', id)), [1]);
  }
  await store.close();
});

test('Q7 a step that was handed in is stored though the store is closed at once', async () => {
  const connection = openConnection(':memory:');
  migrateSqlite(connection, sqliteSchema, ':memory:');
  const quiet = { clock: systemClock, log: quietLog(), release: () => undefined };
  const store = createEmbeddedStore(connection, quiet);
  const step = store.commit({ done: 'a' });
  await store.close();
  await step;
});

test('Q8 a write that throws changes nothing, and the next one works', () => {
  const connection = openConnection(':memory:');
  connection.exec('CREATE TABLE a (x INTEGER PRIMARY KEY) STRICT');
  const insert = connection.prepare('INSERT INTO a (x) VALUES (?)');
  const fail = () =>
    connection.write('process', () => {
      insert.run(1);
      insert.run(1);
    });
  assert.throws(fail, /UNIQUE constraint/);
  assert.equal(
    connection.write('power', () => insert.run(1)),
    1,
  );
  connection.close();
});

test('Q8 the journal gives its space back once a long reader is gone', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-journal-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'a.db');
  const connection = openConnection(file);
  t.after(connection.close);
  migrateSqlite(connection, sqliteSchema, file);
  connection.exec('CREATE TABLE big (seq INTEGER PRIMARY KEY, bytes BLOB)');
  const add = connection.prepare('INSERT INTO big (bytes) VALUES (randomblob(1000000))');
  {
    using reader = new DatabaseSync(file);
    reader.exec('BEGIN; SELECT count(*) FROM big');
    reader.prepare('SELECT count(*) FROM big').get();
    for (let megabyte = 0; megabyte < 48; megabyte++) add.run();
  }
  assert.ok(statSync(`${file}-wal`).size > 45_000_000);
  for (let megabyte = 0; megabyte < 3; megabyte++) add.run();
  assert.ok(statSync(`${file}-wal`).size <= 32_000_000);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSqliteBatch } from '../../src/store/sqlite/create-batch.ts';
import {
  openConnection,
  type SqliteConnection,
  type SqliteSurvives,
} from '../../src/store/sqlite/open-connection.ts';

function setUp() {
  const connection = openConnection(':memory:');
  connection.exec('CREATE TABLE a (x INTEGER PRIMARY KEY) STRICT');
  const insert = connection.prepare('INSERT INTO a (x) VALUES (?)');
  const all = connection.prepare<{ x: number }>('SELECT x FROM a ORDER BY x');
  const commits: SqliteSurvives[] = [];
  const watched: SqliteConnection = {
    ...connection,
    write: (survives, work) => {
      commits.push(survives);
      return connection.write(survives, work);
    },
  };
  const batch = createSqliteBatch(watched);
  return {
    add: (x: number, survives: SqliteSurvives = 'power') => batch.write(survives, () => insert.run(x)),
    flush: () => batch.flush(),
    all: () => all.all().map(({ x }) => x),
    commits,
  };
}

test('Q1 messages that come at one instant wait for the disk once, each until it is there', async () => {
  const { add, all, commits } = setUp();
  const first = add(0).then(() => assert.deepEqual(all().length, 50));
  await Promise.all([first, ...Array.from({ length: 49 }, (_, x) => add(x + 1))]);
  assert.equal(commits.length, 1);
  await add(100);
  assert.equal(commits.length, 2);
});

test('Q1 a message that can not be stored harms no other of the same instant', async () => {
  const { add, all } = setUp();
  const results = await Promise.allSettled([add(1), add(2), add(1), add(3)]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(all(), [1, 2, 3]);
});

test('Q8 what shares a transaction is synced as the most careful of it asks, and by itself as it asks', async () => {
  const { add, commits } = setUp();
  await Promise.all([add(1, 'process'), add(2, 'power'), add(3, 'process')]);
  await Promise.all([add(4, 'process'), add(5, 'process')]);
  // The first of these is refused, and each is tried on its own.
  await Promise.allSettled([add(1, 'process'), add(6, 'power')]);
  assert.deepEqual(commits, ['power', 'process', 'power', 'process', 'power']);
});

test('Q7 what waits is written at once where it is asked for', async () => {
  const { add, all, flush, commits } = setUp();
  const added = add(1, 'process');
  assert.deepEqual(all(), []);
  flush();
  assert.deepEqual(all(), [1]);
  await added;
  flush();
  assert.equal(commits.length, 1);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBatch } from '../../src/stores/embedded/create-batch.ts';
import { openConnection, type Connection } from '../../src/stores/embedded/open-connection.ts';

function setUp() {
  const connection = openConnection(':memory:');
  connection.exec('CREATE TABLE a (x INTEGER PRIMARY KEY) STRICT');
  const insert = connection.prepare('INSERT INTO a (x) VALUES (?)');
  const all = connection.prepare<{ x: number }>('SELECT x FROM a ORDER BY x');
  const commits = { count: 0 };
  const watched: Connection = {
    ...connection,
    write: (survives, work) => {
      commits.count += 1;
      return connection.write(survives, work);
    },
  };
  const batched = createBatch(watched);
  return {
    add: (x: number) => batched(() => insert.run(x)),
    all: () => all.all().map(({ x }) => x),
    commits,
  };
}

test('Q1 messages that come at one instant wait for the disk once, each until it is there', async () => {
  const { add, all, commits } = setUp();
  const first = add(0).then(() => assert.deepEqual(all().length, 50));
  await Promise.all([first, ...Array.from({ length: 49 }, (_, x) => add(x + 1))]);
  assert.equal(commits.count, 1);
  await add(100);
  assert.equal(commits.count, 2);
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

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { storeFault } from '../../src/store/store-fault.ts';

function errorWith(fields: Readonly<Record<string, unknown>>, message = 'said by the database'): Error {
  return Object.assign(new Error(message), fields);
}

test('Q11 what SQLite says of a full, locked or unreadable file is told from what it says of a call', () => {
  for (const errcode of [5, 13, 10, 778, 14, 11, 26]) {
    assert.deepEqual(storeFault(errorWith({ errcode })), { reason: 'said by the database', undone: true });
  }
  const db = new DatabaseSync(':memory:');
  const wrong = [
    'SELECT * FROM nowhere',
    'CREATE TABLE t (a TEXT NOT NULL) STRICT; INSERT INTO t VALUES (NULL)',
  ];
  for (const sql of wrong) {
    assert.throws(
      () => db.exec(sql),
      (error) => storeFault(error) === undefined,
    );
  }
  db.close();
});

test('Q11 a PostgreSQL that is away, full or shutting down is a fault; only what surely was not written counts as undone', () => {
  const undone = (fields: Readonly<Record<string, unknown>>, message?: string) =>
    storeFault(errorWith({ name: 'DatabaseFault', ...fields }, message))?.undone;
  for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'ENOENT', '53100', '53300', '57P01', '57P03', '25006']) {
    assert.equal(undone({ code }), true, code);
  }
  assert.equal(undone({}, 'timeout exceeded when trying to connect'), true);
  assert.equal(
    undone({ connected: false }, 'Client has encountered a connection error and is not queryable'),
    true,
  );
  for (const code of ['ECONNRESET', '08006']) assert.equal(undone({ code }), false, code);
  assert.equal(undone({}, 'Connection terminated unexpectedly'), false);
  assert.equal(undone({ code: undefined, connected: false }), false);
  for (const code of ['23505', '42P01', '40001']) assert.equal(undone({ code, connected: true }), undefined);
  assert.equal(storeFault('no error at all'), undefined);
});

test('Q11 a platform or a tool that cannot be reached is no fault of the store', () => {
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'ETIMEDOUT']) {
    assert.equal(storeFault(new Error('fetch failed', { cause: errorWith({ code }) })), undefined, code);
  }
});

test('Q11 a fault is found behind the error that carries it', () => {
  const cause = errorWith({ errcode: 13 }, 'database or disk is full');
  assert.equal(storeFault(new Error('could not be stored', { cause }))?.reason, 'database or disk is full');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/lib/clock.ts';
import { createEmbeddedStore } from '../../src/store/sqlite/create-embedded-store.ts';
import { migrate, schema } from '../../src/store/sqlite/schema.ts';
import { openConnection, type Connection } from '../../src/store/sqlite/open-connection.ts';
import { quietLog } from '../support/quiet-log.ts';

/** Indexes over unfinished rows only: going through one costs what is left to do, not what was ever done. */
const ofUnfinished = [
  'inbox_waiting',
  'inbox_beside',
  'inbox_due',
  'inbox_dead',
  'inbox_dead_since',
  'outbox_lanes',
  'outbox_dead',
];

test('B2 no statement of the embedded store goes through rows that are finished or of other conversations', () => {
  const connection = openConnection(':memory:');
  migrate(connection, schema, ':memory:');
  const statements: string[] = [];
  const watched: Connection = {
    ...connection,
    prepare(sql) {
      statements.push(sql);
      return connection.prepare(sql);
    },
  };
  createEmbeddedStore(watched, { clock: systemClock, log: quietLog(), release: () => undefined });
  assert.ok(statements.length > 30);
  for (const sql of statements) {
    const plan = connection.prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all();
    const scans = plan.map(({ detail }) => detail).filter((detail) => /^SCAN (?!CONSTANT)/.test(detail));
    const indexes = scans.map((scan) => / USING (?:COVERING )?INDEX (\w+)/.exec(scan)?.[1] ?? 'no index');
    const allowed = /lane = \?/.test(sql) ? [] : ofUnfinished;
    assert.ok(
      indexes.length <= 1 && indexes.every((index) => allowed.includes(index)),
      `${scans.join('; ')} in: ${sql}`,
    );
  }
  connection.close();
});

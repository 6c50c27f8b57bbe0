import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/lib/clock.ts';
import { createEmbeddedStore } from '../../src/store/sqlite/create-embedded-store.ts';
import { migrateSqlite } from '../../src/store/sqlite/migrate.ts';
import { sqliteSchema } from '../../src/store/sqlite/schema.ts';
import {
  openConnection,
  type SqliteConnection,
  type PreparedStatement,
} from '../../src/store/sqlite/open-connection.ts';
import { makeMessage } from '../support/make-message.ts';
import { quietLog } from '../support/quiet-log.ts';

/** Indexes over unfinished rows only: going through one costs what is left to do, not what was ever done. */
const ofUnfinished = [
  'inbox_waiting',
  'inbox_beside',
  'inbox_due',
  'inbox_dead',
  'inbox_dead_since',
  'outbox_queues',
  'outbox_dead',
];

test('B2 no statement of the embedded store goes through rows that are finished or of other conversations', () => {
  const connection = openConnection(':memory:');
  migrateSqlite(connection, sqliteSchema, ':memory:');
  const statements: string[] = [];
  const watched: SqliteConnection = {
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
    // `M1`: the full text index goes to the words that are asked for.
    const scans = plan
      .map(({ detail }) => detail)
      .filter((detail) => /^SCAN (?!CONSTANT|said_words VIRTUAL TABLE INDEX \d+:M1)/.test(detail));
    const indexes = scans.map((scan) => / USING (?:COVERING )?INDEX (\w+)/.exec(scan)?.[1] ?? 'no index');
    const allowed = /queue = \?/.test(sql) ? [] : ofUnfinished;
    assert.ok(
      indexes.length <= 1 && indexes.every((index) => allowed.includes(index)),
      `${scans.join('; ')} in: ${sql}`,
    );
  }
  connection.close();
});

test('B1 a message, and its end, have only the queues of conversations looked through', async (t) => {
  const connection = openConnection(':memory:');
  migrateSqlite(connection, sqliteSchema, ':memory:');
  const looks: string[] = [];
  const watched: SqliteConnection = {
    ...connection,
    prepare<Row>(sql: string): PreparedStatement<Row> {
      const statement = connection.prepare<Row>(sql);
      if (!sql.startsWith('SELECT queue FROM inbox')) return statement;
      const kind = sql.includes(`instr(queue, '~') > 0`) ? 'beside' : 'own';
      return { ...statement, all: (...values) => (looks.push(kind), statement.all(...values)) };
    },
  };
  const store = createEmbeddedStore(watched, {
    clock: systemClock,
    log: quietLog(),
    release: () => undefined,
  });
  const done = async (queue: string): Promise<void> => {
    const item = await store.inbox.take(queue, Date.now());
    if (item !== undefined) await store.commit({ done: item.key });
  };
  const serve = { concurrency: 4, run: done };
  const servings = [
    store.inbox.startWorker({ ...serve, channels: ['telegram'] }),
    store.inbox.startWorker({ ...serve, channels: ['telegram~'] }),
  ];
  t.after(async () => {
    for (const serving of servings) await serving.stop();
    await store.close();
  });
  const idle = async (): Promise<void> => {
    for (const serving of servings) await serving.idle();
  };
  const during = async (what: () => Promise<unknown>): Promise<string[]> => {
    await idle();
    looks.splice(0);
    await what();
    await new Promise(setImmediate);
    await servings[0]?.idle();
    return [...new Set(looks)];
  };
  const message = makeMessage();
  assert.deepEqual(await during(() => store.inbox.accept(message, { now: 1 })), ['own']);
  const work = [{ queue: 'telegram:1~run', message: makeMessage({ id: 'run' }) }];
  assert.deepEqual((await during(() => store.commit({ work }))).sort(), ['beside', 'own']);
  await idle();
  assert.deepEqual(await store.inbox.list('waiting'), []);
});

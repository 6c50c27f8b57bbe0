import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../../src/lib/clock.ts';
import { createEmbeddedStore } from '../../src/store/sqlite/create-embedded-store.ts';
import { migrateSqlite } from '../../src/store/sqlite/migrate.ts';
import { sqliteSchema } from '../../src/store/sqlite/schema.ts';
import { openConnection } from '../../src/store/sqlite/open-connection.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';
import { quietLog } from '../support/quiet-log.ts';

/** What a row may hold after an accident, or after another version wrote it. */
const damages = ['', '{"text":"SECRET', 'null', '[]', '{"text":"SECRET"}', '[{"message":"SECRET","glue":1}]'];

/** A store, and a second connection to its file for doing harm. */
async function damageable(context: TestContext) {
  const dir = mkdtempSync(path.join(tmpdir(), 'skillet-store-'));
  const log = quietLog();
  const store = await openStore(`sqlite:${dir}/s.db`, { log });
  const db = new DatabaseSync(path.join(dir, 's.db'));
  context.after(async () => {
    db.close();
    await store.close();
    rmSync(dir, { recursive: true });
  });
  return { store, log, harm: (sql: string, ...values: string[]) => db.prepare(sql).run(...values) };
}

function assertReported(log: ReturnType<typeof quietLog>, times: number): void {
  assert.equal(log.lines.length, times);
  assert.doesNotMatch(JSON.stringify(log.lines), /SECRET/, 'a damaged row was quoted in the log');
}

for (const damage of damages) {
  test(`Q11 an inbox row that holds ${damage || 'nothing'} is set aside with the reason, and its queue goes on`, async (context) => {
    const { store, log, harm } = await damageable(context);
    for (const id of ['a', 'b']) await store.inbox.accept(makeMessage({ id }), { now: 1 });
    harm(`UPDATE inbox SET parts = ? WHERE key = 'a'`, damage);
    assert.equal(await store.inbox.accept(makeMessage({ id: 'a' }), { now: 1 }), 'duplicate');
    assert.equal(await store.inbox.replace(makeMessage({ id: 'a' })), 'too_late');
    assert.equal((await store.inbox.take('telegram:42', 1))?.key, 'b');
    const [dead] = await store.inbox.list('dead');
    assert.equal(dead?.key, 'a');
    assert.equal(dead.message, undefined);
    assert.match(dead.error ?? '', /^The stored message (is not JSON|is wrong at [a-z0-9. ]+: Invalid)/);
    assertReported(log, 1);
    assert.equal(await store.inbox.drop('a'), true);
  });

  test(`M7 a transcript entry that holds ${damage || 'nothing'} is left out and counted`, async (context) => {
    const { store, log, harm } = await damageable(context);
    const entries = ['a', 'b', 'c'].map((text) => ({
      transcript: 't',
      entry: { kind: 'notice', text, at: 1 } as const,
    }));
    await store.commit({ entries });
    harm('UPDATE entries SET entry = ? WHERE seq = 2', damage);
    const read = await store.transcripts.read('t');
    assert.equal(read.damaged, 1);
    assert.deepEqual(
      read.entries.map(({ entry }) => entry),
      [entries[0]?.entry, entries[2]?.entry],
    );
    assertReported(log, 1);
  });

  test(`Q11 an outbox row that holds ${damage || 'nothing'} is given up, and its conversation goes on`, async (context) => {
    const { store, log, harm } = await damageable(context);
    const conversation = { channel: 'telegram', chat: '1' };
    const outbox = ['a', 'b', 'c'].map((key) => ({ key, conversation, part: { markdown: key } }));
    await store.commit({ outbox });
    harm(`UPDATE outbox SET part = ? WHERE key = 'a'`, damage);
    harm(`UPDATE outbox SET conversation = ? WHERE key = 'b'`, damage);
    assert.equal((await store.outbox.next('telegram:1', 1))?.key, 'c');
    assert.equal(await store.outbox.pending(conversation), 1);
    assertReported(log, 2);
  });
}

test('Q12 what is damaged goes with the person that it names, and stays with anybody else', async (context) => {
  const { store, harm } = await damageable(context);
  const conversation = { channel: 'telegram', chat: '-100' };
  for (const id of ['a', 'b']) await store.inbox.accept(makeMessage({ id, conversation }), { now: 1 });
  const entry = { kind: 'notice', text: 'x', at: 1 } as const;
  await store.commit({ entries: [1, 2].map(() => ({ transcript: 'telegram:-100', entry })) });
  for (const table of ['inbox SET parts', 'entries SET entry']) {
    harm(`UPDATE ${table} = ? WHERE seq = 1`, '{"sender":{"id":"telegram:42"}, SECRET');
    harm(`UPDATE ${table} = ? WHERE seq = 2`, '{"sender":{"id":"telegram:7"}, SECRET');
  }
  const { messages, entries } = await store.forget('telegram:42');
  assert.deepEqual([messages, entries], [1, 1]);
});

test('Q12 what is said while a long conversation is removed for its age stays', async (context) => {
  const { store } = await damageable(context);
  const write = (text: string, at: number, count = 1) =>
    store.commit({
      entries: Array.from({ length: count }, () => ({
        transcript: 'telegram:42',
        entry: { kind: 'notice', text, at } as const,
      })),
    });
  await write('old', 1, 10_000);
  const pruned = store.prune(Date.now(), 1_000);
  // After the first batch, and long before the last.
  await setImmediate();
  await write('new', Date.now());
  await pruned;
  const { entries } = await store.transcripts.read('telegram:42');
  assert.ok(entries.some(({ entry }) => entry.kind === 'notice' && entry.text === 'new'));
});

test('Q11 a damaged overheard message or keyed value is left out and reported', async (context) => {
  const { store, log, harm } = await damageable(context);
  for (const id of ['a', 'b']) await store.groupContext.add(makeMessage({ id }), 1);
  harm(`UPDATE group_context SET message = '{"text":"SECRET"}' WHERE key = 'a'`);
  const heard = await store.groupContext.recent('telegram:42', 20, 0);
  assert.deepEqual(
    heard.map(({ id }) => id),
    ['b'],
  );
  const keyed = store.keyed('pairings');
  await keyed.set('a', 1);
  await keyed.set('b', 2);
  harm(`UPDATE keyed SET value = '{"value":SECRET' WHERE key = 'a'`);
  assert.equal(await keyed.get('a'), undefined);
  const left = [];
  for await (const entry of keyed.iterator()) left.push(entry);
  assert.deepEqual(left, [['b', 2]]);
  assertReported(log, 3);
});

test('Q11 a full disk refuses what comes, keeps what was accepted, and goes on when there is room', async () => {
  const connection = openConnection(':memory:');
  migrateSqlite(connection, sqliteSchema, ':memory:');
  const store = createEmbeddedStore(connection, {
    clock: systemClock,
    log: quietLog(),
    release: () => undefined,
  });
  const pages = connection.prepare<{ page_count: number }>('PRAGMA page_count').get()?.page_count ?? 0;
  connection.exec(`PRAGMA max_page_count = ${pages + 10}`);
  const message = (n: number) =>
    makeMessage({
      id: `m${n}`,
      text: 'x'.repeat(3_000),
      conversation: { channel: 'telegram', chat: `${n}` },
    });
  const accepted: string[] = [];
  const full = { message: /full/, errcode: 13 };
  await assert.rejects(async () => {
    for (let n = 0; n < 100; n++) {
      await store.inbox.accept(message(n), { now: 1 });
      accepted.push(`m${n}`);
    }
  }, full);
  assert.ok(accepted.length > 0);
  const big = { kind: 'notice', text: 'x'.repeat(30_000), at: 1 } as const;
  await assert.rejects(store.commit({ entries: [{ transcript: 't', entry: big }], done: 'm0' }), full);
  await assert.rejects(store.keyed('x').set('k', 'x'.repeat(30_000)), full);
  const waiting = async () => (await store.inbox.list('waiting')).map(({ key }) => key);
  assert.deepEqual(await waiting(), accepted);

  connection.exec('PRAGMA max_page_count = 100000');
  assert.equal(await store.inbox.accept(message(accepted.length), { now: 1 }), 'stored');
  await store.commit({ entries: [{ transcript: 't', entry: big }], done: 'm0' });
  assert.deepEqual(await waiting(), [...accepted, `m${accepted.length}`].slice(1));
  await store.close();
});

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';

const day = 24 * 60 * 60_000;
const conversation = { channel: 'telegram', chat: '1' };
type Rows = readonly Readonly<Record<string, unknown>>[];

/** Sends an answer, gives one up, and looks at both while time passes. */
async function keeps(t: TestContext, url: string, read: (sql: string, table: string) => Promise<Rows>) {
  const store = await openStore(url);
  t.after(() => store.close());
  const row = (key: string) => ({ key, conversation, part: { markdown: `the text of ${key}` } });
  await store.commit({ outbox: [row('sent'), row('dead'), row('waits')] });
  await store.outbox.sent('sent', { id: '7' });
  await store.outbox.dead('dead', 'refused');
  const left = async () =>
    (await read('SELECT key, part FROM', 'outbox ORDER BY key')).map(({ key, part }) => [key, part]);
  const text = (key: string) => [key, JSON.stringify({ markdown: `the text of ${key}` })];
  const now = Date.now() + 1_000;

  await store.prune(now, 90 * day);
  assert.deepEqual(await left(), [text('dead'), text('sent'), text('waits')]);
  await store.prune(now + day, day + 60_000);
  assert.deepEqual(await left(), [text('dead'), text('sent'), text('waits')]);
  await store.prune(now + day + 60_000, day);
  assert.deepEqual(await left(), [['sent', '{"markdown":""}'], text('waits')]);
  // It is known all the same: nothing is sent twice, and what was sent can be changed.
  await store.commit({ outbox: [row('sent')] });
  assert.deepEqual(await store.outbox.receipt('sent'), { id: '7' });
  assert.equal(await store.outbox.pending(conversation), 1);
  await store.prune(now + 8 * day, day);
  assert.deepEqual(await left(), [text('waits')]);
}

const name = (store: string): string =>
  `Q12 on the ${store} store the text of an answer goes with the retention, its key stays for seven days`;

test(name('embedded'), async (t) => {
  const home = await mkdtemp(path.join(tmpdir(), 'skillet-texts-'));
  t.after(() => rm(home, { recursive: true }));
  const file = path.join(home, 'skillet.db');
  await keeps(t, `sqlite:${file}`, async (sql, table) => {
    const db = new DatabaseSync(file, { readOnly: true });
    try {
      return db.prepare(`${sql} ${table}`).all();
    } finally {
      db.close();
    }
  });
});

const server = await startPostgres();
test(name('postgres'), { skip: server === undefined && noPostgres }, async (t) => {
  assert.ok(server);
  const url = await server.database();
  await keeps(t, url, (sql, table) => server.run(url, `${sql} skillet.${table}`));
});
after(() => server?.close());

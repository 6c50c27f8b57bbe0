import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test, type TestContext } from 'node:test';
import { conversationKey } from '../../src/core/conversation.ts';
import type { Entry } from '../../src/core/entry.ts';
import { hasProgressed } from '../../src/conversations/has-progressed.ts';
import { createInboxWorker } from '../../src/conversations/inbox-worker.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { openDatabase } from '../../src/store/postgres/open-database.ts';
import { migratePostgres, removals, postgresSchema } from '../../src/store/postgres/schema.ts';
import { openStore } from '../../src/store/open-store.ts';
import { NewerRow } from '../../src/store/newer-row.ts';
import type { Store } from '../../src/store/store.ts';
import { makeMessage } from '../support/make-message.ts';
import { noPostgres, startPostgres, type PostgresServer } from '../support/postgres.ts';
import { makeRoutine } from '../support/routines-contract.ts';
import { quietLog } from '../support/quiet-log.ts';
import { unmovedChats } from '../support/unmoved-chats.ts';

const server = await startPostgres();
after(() => server?.close());
const skip = server === undefined ? noPostgres : false;
const here = (): PostgresServer => server ?? assert.fail(String(noPostgres));
const database: PostgresServer['database'] = (...given) => here().database(...given);
const run: PostgresServer['run'] = (...given) => here().run(...given);

/** The first characters of each step's SHA-256. Add one for a new step; never change one. */
const recorded: readonly string[] = ['dca888375a068f97', 'cc6959e475cfe6ba'];

test('Q15 Q10 steps of the PostgreSQL schema never change', () => {
  const now = postgresSchema.map((step) => createHash('sha256').update(step).digest('hex').slice(0, 16));
  assert.deepEqual(now, recorded, 'edit no step: add one, and record it here');
});

/** What a step does besides adding; undefined if it only adds. */
function removes(step: string): string | undefined {
  const bare = step.replace(/\$\$[^]*?\$\$/g, "''").replace(/--.*$/gm, '');
  const adds = [
    /^CREATE (UNLOGGED )?TABLE /,
    /^CREATE INDEX /,
    /^CREATE (OR REPLACE )?FUNCTION /,
    /^CREATE TRIGGER /,
    /^INSERT INTO /,
    /^ALTER TABLE \S+ ADD COLUMN (?![^]*\b(DROP|ALTER|RENAME)\b)(?:(?![^,]*NOT NULL)|(?=[^,]*DEFAULT))[^,]+$/,
  ];
  return bare
    .split(';')
    .map((statement) => statement.trim())
    .find((statement) => statement !== '' && !adds.some((pattern) => pattern.test(statement)));
}

test('Q15 each new step of the PostgreSQL schema only adds, or is listed as a removal', () => {
  for (const [n, step] of postgresSchema.entries()) {
    if (n === 0 || removals[n + 1] !== undefined) continue;
    assert.equal(removes(step), undefined, `step ${n + 1}`);
  }
  for (const bad of [
    'DROP TABLE skillet.pending_requests',
    'ALTER TABLE skillet.pending_requests DROP COLUMN request',
    'ALTER TABLE skillet.pending_requests ADD COLUMN a text NOT NULL',
    'ALTER TABLE skillet.pending_requests ADD COLUMN a text, DROP COLUMN request',
    "ALTER TABLE skillet.pending_requests ADD COLUMN a text NOT NULL DEFAULT ''; UPDATE skillet.pending_requests SET request = ''",
    'CREATE UNIQUE INDEX pending_requests_ask ON skillet.pending_requests (request)',
    'DELETE FROM skillet.pending_requests',
  ])
    assert.notEqual(removes(bad), undefined, bad);
  assert.equal(
    removes("ALTER TABLE skillet.pending_requests ADD COLUMN a text NOT NULL DEFAULT ''"),
    undefined,
  );
});

async function open(t: TestContext, url: string): Promise<Store> {
  const store = await openStore(url, { log: quietLog() });
  t.after(() => store.close());
  return store;
}

/** Adds a step, as the next version does. */
async function addStep(url: string, step: string, removing: Readonly<Record<number, number>> = {}) {
  const next = openDatabase(url, quietLog());
  try {
    await migratePostgres(
      next,
      { steps: [...postgresSchema, step], removals: removing },
      async () => undefined,
    );
  } finally {
    await next.close();
  }
}

const added = "ALTER TABLE skillet.inbox ADD COLUMN colour text NOT NULL DEFAULT 'red'";
const next = postgresSchema.length + 1;

test('Q15 a process continues and starts on a schema to which a newer version added', { skip }, async (t) => {
  const url = await database();
  const running = await open(t, url);
  await addStep(url, added);
  await running.inbox.accept(makeMessage({ id: 'a' }), { now: 1 });
  const started = await open(t, url);
  assert.equal((await started.inbox.take(queue, 2))?.key, 'a');
});

test(
  'Q15 a removal names the processes that still need it, and is done when they ended',
  { skip },
  async (t) => {
    const url = await database();
    const older = await open(t, url);
    const removal = 'ALTER TABLE skillet.inbox DROP COLUMN join_key';
    await assert.rejects(addStep(url, removal, { [next]: next }), {
      name: 'OperatorError',
      message: new RegExp(
        `Step ${next} .*Skillet \\d[^ ]* on \\S+ \\(process ${process.pid}, seen \\d+ s ago\\)`,
      ),
    });
    await older.inbox.accept(makeMessage({ id: 'a' }), { now: 1 });
    await older.close();
    await addStep(url, removal, { [next]: next });
    await assert.rejects(openStore(url), { name: 'OperatorError', message: /needs a Skillet that knows/ });
  },
);

test('Q15 a killed process stands in the way of a removal for a minute', { skip }, async (t) => {
  const url = await database();
  await (await open(t, url)).close();
  const dead = (seconds: number) =>
    run(
      url,
      `INSERT INTO skillet.running VALUES (1, '0.0.1', ${postgresSchema.length}, 'there', 7, now() - interval '${seconds} seconds')
       ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
    );
  await dead(50);
  await assert.rejects(addStep(url, added, { [next]: next }), {
    message: /on there \(process 7, seen 5\d s ago\)/,
  });
  await dead(70);
  await addStep(url, added, { [next]: next });
});

const { conversation } = makeMessage();
const queue = conversationKey(conversation);
const entry: Entry = { kind: 'notice', text: 'n', at: 1 };

test(
  'Q15 messages, entries and parts that only a newer version knows are left as they are, and cost no try',
  { skip },
  async (t) => {
    const url = await database();
    const store = await open(t, url);
    await store.inbox.accept(makeMessage({ id: 'a' }), { now: 1 });
    await store.commit({
      entries: [{ transcript: queue, entry }],
      outbox: [{ key: 'a#0', conversation, part: { markdown: 'x' } }],
    });
    const rows = () =>
      run(
        url,
        `SELECT parts, status, tries, taken_at FROM skillet.inbox UNION ALL
         SELECT part, status, tries, finished_at FROM skillet.outbox UNION ALL
         SELECT entry, kind, 0, NULL FROM skillet.entries`,
      );

    // Without a newer version on this database, a field that nobody knows is left out.
    await run(url, `UPDATE skillet.outbox SET part = '{"markdown":"x","tint":"red"}'`);
    assert.equal((await store.outbox.next(queue, 5))?.part.markdown, 'x');

    await addStep(url, added);
    await run(
      url,
      `UPDATE skillet.inbox SET parts = replace(parts, '"text"', '"task":{"kind":"dream","id":"1"},"text"');
       UPDATE skillet.entries SET kind = 'dream', entry = '{"kind":"dream","at":1}'`,
    );
    const before = await rows();
    await assert.rejects(store.inbox.take(queue, 5), NewerRow);
    await assert.rejects(store.inbox.take(queue, 6), NewerRow);
    assert.deepEqual(await rows(), before, 'nobody has taken it');
    assert.equal(await store.inbox.takeAlong('a', 6), undefined);
    await assert.rejects(store.outbox.next(queue, 5), /has the field tint/);
    await assert.rejects(store.transcripts.read(queue), NewerRow);
    assert.deepEqual(await rows(), before);
  },
);

test(
  'Q15 S13 a routine that only a newer version knows is left as it is, and others go on',
  { skip },
  async (t) => {
    const url = await database();
    const { routines } = await open(t, url);
    for (const id of ['old', 'kind', 'field']) await routines.add(makeRoutine(id), 9);
    const ids = async () => (await routines.due(5_000, 9)).map(({ id }) => id).toSorted();
    await run(
      url,
      `UPDATE skillet.routines SET definition = replace(definition, '"kind":"cron"', '"kind":"moon"') WHERE id = 'kind'`,
    );
    await run(
      url,
      `UPDATE skillet.routines SET definition = replace(definition, '"name"', '"tint":"red","name"') WHERE id = 'field'`,
    );
    assert.deepEqual(
      await ids(),
      ['field', 'old'],
      'on a schema of its own version one is damaged, and a field is left out',
    );
    await addStep(url, added);
    const rows = () => run(url, 'SELECT definition, state, due_at FROM skillet.routines ORDER BY id');
    const before = await rows();
    assert.deepEqual(await ids(), ['old']);
    assert.deepEqual(
      (await routines.all()).map(({ id }) => id),
      ['old'],
    );
    for (const id of ['kind', 'field']) await assert.rejects(routines.find(id), NewerRow);
    await assert.rejects(routines.of('telegram:42'), NewerRow);
    assert.deepEqual(await rows(), before);
  },
);

test('Q15 what joins an item of a newer version keeps what only that version knows', { skip }, async (t) => {
  const url = await database();
  const store = await open(t, url);
  const join = { key: 'k', holdMs: 0, glue: () => '' };
  await store.inbox.accept(makeMessage({ id: 'a', chatType: 'unknown' }), { now: 1, join });
  await addStep(url, added);
  await run(url, `UPDATE skillet.inbox SET parts = replace(parts, '"text"', '"tint":"red","text"')`);
  await store.inbox.accept(makeMessage({ id: 'a', chatType: 'private' }), { now: 1 });
  await store.inbox.accept(makeMessage({ id: 'b' }), { now: 1, join });
  const [{ parts }] = (await run(url, 'SELECT parts FROM skillet.inbox')) as [{ parts: string }];
  const stored = JSON.parse(parts) as { message: Record<string, unknown> }[];
  assert.deepEqual(
    stored.map(({ message }) => [message['id'], message['chatType'], message['tint']]),
    [
      ['a', 'private', 'red'],
      ['b', 'private', undefined],
    ],
  );
});

test(
  'Q15 a message whose transcript only a newer version knows waits for it, without a try',
  { skip },
  async (t) => {
    const url = await database();
    const store = await open(t, url);
    await store.inbox.accept(makeMessage({ id: 'a' }), { now: 1 });
    await store.commit({ entries: [{ transcript: queue, entry }] });
    await addStep(url, added);
    await run(url, `UPDATE skillet.entries SET entry = '{"kind":"dream","at":1}'`);
    const seen = Promise.withResolvers<void>();
    const handled: (number | undefined)[] = [];
    const deps = { store, migrations: unmovedChats };
    const worker = createInboxWorker(
      {
        async handle(item) {
          handled.push(item.interruptedAt);
          if (handled.length === 2) seen.resolve();
          await store.transcripts.read(queue);
        },
        progressed: (item, at) => hasProgressed(item, at, deps),
        onDead: async () => assert.fail('it is not dead'),
        channels: ['telegram'],
        concurrency: 1,
      },
      { store, clock: systemClock, log: quietLog() },
    );
    worker.start();
    await seen.promise;
    await worker.stop(0);
    assert.deepEqual(handled, [undefined, undefined], 'nobody died');
    const [item] = await run(url, 'SELECT status, tries, error, taken_at FROM skillet.inbox');
    assert.deepEqual(item, { status: 'waiting', tries: 0, error: null, taken_at: null });
  },
);

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { once } from 'node:events';
import path from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { noMeter } from '../../src/core/meter.ts';
import { createCopies } from '../../src/folders/create-copies.ts';
import { createStoreHealth } from '../../src/operator/health/store-health.ts';
import { watchStore } from '../../src/operator/health/watch-store.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { openStore } from '../../src/store/open-store.ts';
import { trustedMs } from '../../src/store/postgres/lease.ts';
import { storeFault } from '../../src/store/store-fault.ts';
import type { Store } from '../../src/store/store.ts';
import { startLine } from '../support/held-line.ts';
import { makeMessage } from '../support/make-message.ts';
import { withinMachineTime } from '../support/machine-time.ts';
import { noPostgres, startPostgres, type PostgresServer } from '../support/postgres.ts';
import { quietLog, type Logged } from '../support/quiet-log.ts';

const never = new AbortController().signal;
const damages = ['', '{"text":"SECRET', 'null', '[]', '{"text":"SECRET"}', '[{"message":"SECRET","glue":1}]'];

const server = await startPostgres({ durable: true });
if (server === undefined) {
  test('Q11 the store works again when its database is back', { skip: noPostgres }, () => undefined);
} else {
  after(() => server.close());
  outages(server);
  damage(server);
}

function said(n: number) {
  return makeMessage({ id: `m${n}`, conversation: { channel: 'telegram', chat: String(n) } });
}

/** Answers everything; `answered` resolves when an item is done. */
function answering(context: TestContext, store: Store) {
  const done = new Map<string, PromiseWithResolvers<void>>();
  const doneOf = (key: string): PromiseWithResolvers<void> => {
    const one = done.get(key) ?? Promise.withResolvers<void>();
    done.set(key, one);
    return one;
  };
  const serving = store.inbox.startWorker({
    channels: ['telegram'],
    concurrency: 4,
    async run(queue) {
      const item = await store.inbox.take(queue, Date.now());
      if (item === undefined) return;
      await store.commit({ done: item.key });
      doneOf(item.key).resolve();
    },
  });
  context.after(() => serving.stop());
  return { answered: (key: string) => doneOf(key).promise };
}

/** Resolves when it no longer rejects; a database that comes back is not there at once for everybody. */
async function works(what: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await what();
      return;
    } catch (error) {
      assert.ok(storeFault(error), `an outage looks like ${String(error)}`);
    }
  }
}

function outages(server: PostgresServer): void {
  test('Q11 a start waits for a server that is away, until it is told to stop', async (t) => {
    const url = await server.database();
    await server.stop('fast');
    const log = quietLog();
    const stopping = new AbortController();
    // Pauses last no time.
    const clock: Clock = { now: Date.now, sleep: (_, signal) => systemClock.sleep(10, signal) };
    const away = ({ level, message }: Logged): boolean => level === 'warn' && /is away/.test(message);
    const opening = openStore(url, { log, clock, until: stopping.signal });
    await log.line(away);
    await assert.rejects(openStore(url, { log, clock }), OperatorError);
    await server.start();
    const store = await opening;
    t.after(() => store.close());
    await store.check();
    await server.stop('fast');
    const other = quietLog();
    const waiting = openStore(url, { log: other, clock, until: stopping.signal });
    const stopped = assert.rejects(waiting);
    await other.line(away);
    stopping.abort();
    await stopped;
    await server.start();
  });

  for (const how of ['fast', 'crash'] as const) {
    test(`Q11 a database that stopped (${how}) is told as such, keeps what was accepted, and all goes on when it is back`, async (context) => {
      const url = await server.database();
      const log = quietLog();
      const store = await openStore(url, { log });
      context.after(() => store.close());
      const { answered } = answering(context, store);
      await store.inbox.accept(said(1), { now: Date.now() });
      await answered('m1');
      const leading = await store.lead('polling', never);
      const unled = once(leading, 'abort');
      const waiting = makeMessage({ id: 'w', conversation: { channel: 'slack', chat: 'C1' } });
      await store.inbox.accept(waiting, { now: 1 });

      await server.stop(how);
      for (const call of [
        () => store.inbox.accept(said(2), { now: Date.now() }),
        () => store.check(),
        () => store.commit({ done: 'w' }),
        () => store.keyed('x').set('k', 1),
      ]) {
        await assert.rejects(call, (error: Error) => {
          assert.ok(storeFault(error), `an outage looks like ${String(error)}`);
          assert.doesNotMatch(String(error.stack), /skillet-pg|@localhost/);
          return true;
        });
      }
      await unled;

      await server.start();
      await works(() => store.check());
      assert.deepEqual(
        (await store.inbox.list('waiting')).map(({ key }) => key),
        ['w'],
      );
      assert.equal(await store.inbox.accept(said(2), { now: Date.now() }), 'stored');
      await answered('m2');
      assert.equal((await store.lead('polling', never)).aborted, false);
      const other = await openStore(url);
      context.after(() => other.close());
      const heard = new Promise<string>((resolve) => store.signals.on('reload', resolve));
      const knock = setInterval(() => void other.signals.send('reload', 'again'), 100);
      assert.equal(await heard, 'again');
      clearInterval(knock);
    });
  }

  for (const how of ['fast', 'crash'] as const) {
    const fate =
      how === 'crash'
        ? 'is lost, for the server may have forgotten its last steps, and given back at once'
        : 'goes on';
    test(`Q5 Q9 Q11 a queue that was held when the server stopped (${how}) ${fate}`, async (context) => {
      const url = await server.database();
      const store = await openStore(url);
      context.after(() => store.close());
      const taken = Promise.withResolvers<void>();
      const back = Promise.withResolvers<void>();
      const outcomes: string[] = [];
      const done = Promise.withResolvers<void>();
      const serving = store.inbox.startWorker({
        channels: ['telegram'],
        concurrency: 1,
        async run(queue) {
          const item = await store.inbox.take(queue, Date.now());
          if (item === undefined) return;
          taken.resolve();
          await back.promise;
          outcomes.push(await store.commit({ done: item.key }).then(() => 'done', String));
          if (outcomes.at(-1) === 'done') done.resolve();
        },
      });
      context.after(() => serving.stop());
      await store.inbox.accept(said(1), { now: Date.now() });
      await taken.promise;
      // Nobody takes it for a missed heartbeat: that it goes on is the work of who lost it.
      await server.run(url, 'UPDATE skillet_jobs.job_common SET heartbeat_seconds = 3600');
      // Brings the claim to the disk: it stands after a crash, too.
      await store.check();
      const since = performance.now();
      await server.stop(how);
      await server.start();
      await works(() => store.check());
      back.resolve();
      await done.promise;
      if (performance.now() - since > trustedMs) return context.skip('the server was away for too long');
      if (how === 'fast') return assert.deepEqual(outcomes, ['done']);
      assert.match(
        outcomes.join(),
        /^Error: The queue .* was lost to another process: nothing was written,done$/,
      );
    });
  }

  test('Q11 Q14 what a turn reads and writes of folders waits for the database', async (t) => {
    const log = quietLog();
    const plain = await openStore(await server.database(), { log });
    t.after(plain.close);
    const health = createStoreHealth({
      check: plain.check,
      onFault: () => undefined,
      clock: systemClock,
      log,
    });
    t.after(health.stop);
    health.start(() => undefined);
    const { files: filesOf, signals } = watchStore(plain, health, noMeter);
    const files = filesOf();
    assert.ok(files !== undefined);
    const root = mkdtempSync(path.join(tmpdir(), 'skillet-outage-'));
    t.after(() => rmSync(root, { recursive: true }));
    const onFault = (error: unknown): void => assert.fail(String(error));
    const folders = createCopies({ files, signals, root, quota: 1_000_000, onFault });
    const file = path.join(root, 'chats/1/a.txt');
    await server.stop('crash');
    const work = folders.use(['chats/1'], 'changes', async () => writeFileSync(file, 'kept'));
    await log.line(({ message }) => message.includes('the store does not work'));
    await server.start();
    await work;
    assert.deepEqual(
      (await files.read('chats/1'))?.files.map(({ path: name, size }) => [name, size]),
      [['a.txt', 4]],
    );
  });

  test('Q11 a database that hangs is told within seconds and nothing waits for it for ever', async (context) => {
    const url = new URL(await server.database());
    const line = await startLine(context, `${url.searchParams.get('host')}/.s.PGSQL.5432`);
    const store = await openStore(`postgres://skillet@127.0.0.1:${line.port}${url.pathname}`);
    context.after(() => store.close());
    await store.check();
    line.hold(true);
    const told = assert.rejects(store.check(), (error) => storeFault(error) !== undefined);
    await withinMachineTime('the check', 8_000, told);
    line.hold(false);
    await works(() => store.check());
  });

  test('Q9 Q11 a session whose first statement is never answered is replaced by another one', async (context) => {
    const url = new URL(await server.database());
    const socket = `${url.searchParams.get('host')}/.s.PGSQL.5432`;
    const line = await startLine(context, socket, ['LISTEN', 'skillet lead']);
    const store = await openStore(`postgres://skillet@127.0.0.1:${line.port}${url.pathname}`);
    context.after(() => store.close());
    const heard = new Promise((resolve) => store.signals.on('reload', resolve));
    await withinMachineTime('the election', 12_000, store.lead('polling', never));
    const other = await openStore(url.href);
    context.after(() => other.close());
    const knock = setInterval(() => void other.signals.send('reload', 'x'), 100);
    context.after(() => clearInterval(knock));
    await withinMachineTime('the signal', 12_000, heard);
    assert.deepEqual([...line.unsaid], []);
  });
}

function damage(server: PostgresServer): void {
  /** A store, and a way to do harm to its tables. */
  async function damageable(context: TestContext) {
    const url = await server.database();
    const log = quietLog();
    const store = await openStore(url, { log });
    context.after(() => store.close());
    const reported = (times: number) => {
      const lines = log.lines.filter(({ level }) => level !== 'debug');
      assert.equal(lines.length, times, JSON.stringify(lines));
      assert.doesNotMatch(JSON.stringify(log.lines), /SECRET/, 'a damaged row was quoted in the log');
    };
    return { store, reported, harm: (sql: string, ...values: string[]) => server.run(url, sql, values) };
  }

  test('Q11 a damaged inbox row is set aside with the reason, and its queue goes on', async (context) => {
    const { store, harm, reported } = await damageable(context);
    const key = (n: number) => `bad${n}`;
    for (const n of damages.keys()) await store.inbox.accept(makeMessage({ id: key(n) }), { now: 1 });
    await store.inbox.accept(makeMessage({ id: 'good' }), { now: 1 });
    for (const [n, text] of damages.entries()) {
      await harm('UPDATE skillet.inbox SET parts = $2 WHERE key = $1', key(n), text);
      assert.equal(await store.inbox.accept(makeMessage({ id: key(n) }), { now: 1 }), 'duplicate');
      assert.equal(await store.inbox.replace(makeMessage({ id: key(n) })), 'too_late');
    }
    assert.equal((await store.inbox.take('telegram:42', 1))?.key, 'good');
    const dead = await store.inbox.list('dead');
    assert.equal(dead.length, damages.length);
    for (const { error, message } of dead) {
      assert.equal(message, undefined);
      assert.match(error ?? '', /^The stored message (is not JSON|is wrong at [a-z0-9. ]+: Invalid)/);
    }
    reported(damages.length);
    assert.equal(await store.inbox.drop(key(0)), true);
  });

  test('Q11 a damaged outbox row is given up, and its conversation goes on', async (context) => {
    const { store, harm, reported } = await damageable(context);
    const conversation = { channel: 'telegram', chat: '1' };
    const keys = [...damages.keys()].map((n) => `bad${n}`);
    await store.commit({
      outbox: [...keys, 'place', 'good'].map((key) => ({ key, conversation, part: { markdown: key } })),
    });
    for (const [n, text] of damages.entries()) {
      await harm('UPDATE skillet.outbox SET part = $2 WHERE key = $1', keys[n] ?? '', text);
    }
    await harm(`UPDATE skillet.outbox SET conversation = 'SECRET' WHERE key = 'place'`);
    assert.equal((await store.outbox.next('telegram:1', 1))?.key, 'good');
    assert.equal(await store.outbox.pending(conversation), 1);
    reported(damages.length + 1);
  });

  test('M7 a damaged transcript entry is left out and counted', async (context) => {
    const { store, harm, reported } = await damageable(context);
    const texts = ['a', ...damages.keys(), 'z'].map(String);
    await store.commit({
      entries: texts.map((text) => ({ transcript: 't', entry: { kind: 'notice', text, at: 1 } })),
    });
    for (const [n, text] of damages.entries()) {
      await harm('UPDATE skillet.entries SET entry = $2 WHERE seq = $1::int + 2', String(n), text);
    }
    const read = await store.transcripts.read('t');
    assert.equal(read.damaged, damages.length);
    assert.deepEqual(
      read.entries.map(({ entry }) => entry.kind === 'notice' && entry.text),
      ['a', 'z'],
    );
    reported(damages.length);
  });

  test('Q11 a damaged overheard message, keyed value or question counts as missing and is reported', async (context) => {
    const { store, harm, reported } = await damageable(context);
    for (const id of ['a', 'b']) await store.groupContext.add(makeMessage({ id }), 1);
    await harm(`UPDATE skillet.group_context SET message = '{"text":"SECRET"}' WHERE key = 'a'`);
    assert.deepEqual(
      (await store.groupContext.recent('telegram:42', 20, 0)).map(({ id }) => id),
      ['b'],
    );
    const keyed = store.keyed('pairings');
    await keyed.set('a', 1);
    await keyed.set('b', 2);
    await harm(`UPDATE skillet.keyed SET value = '{"value":SECRET' WHERE key = 'a'`);
    assert.deepEqual(await keyed.get(['a', 'b']), [undefined, 2]);
    const conversation = { channel: 'telegram', chat: '42' };
    await store.pendingRequests.add({
      id: 'q',
      kind: 'approval',
      conversation,
      requester: 'telegram:42',
      transcript: 't',
      toolUseId: 'u',
      payload: {},
      askedAt: 1,
      expiresAt: 10,
    });
    await harm(`UPDATE skillet.pending_requests SET request = 'SECRET'`);
    assert.equal(
      await store.pendingRequests.answer('q', { by: 'telegram:42', value: 'yes', at: 2 }),
      'unknown',
    );
    reported(3);
  });
}

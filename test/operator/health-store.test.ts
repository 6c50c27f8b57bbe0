import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { createStoreHealth, type Outage } from '../../src/operator/health/store-health.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';

/** As `node:sqlite` throws it. */
function sqliteError(errcode: number, message: string): Error {
  return Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode });
}

const full = sqliteError(13, 'database or disk is full');

/** A health over a database whose checks and calls are decided by the test. */
function watched(): ReturnType<typeof createStoreHealth> &
  Readonly<{
    db: { checkFails?: Error; callFails?: Error };
    clock: ReturnType<typeof createManualClock>;
    log: ReturnType<typeof quietLog>;
    outages: Outage[];
    call(): Promise<string>;
    calls: { made: number };
  }> {
  const clock = createManualClock();
  const log = quietLog();
  const db: { checkFails?: Error; callFails?: Error } = {};
  const outages: Outage[] = [];
  const calls = { made: 0 };
  const health = createStoreHealth({
    check: async () => {
      if (db.checkFails !== undefined) throw db.checkFails;
    },
    onFault: () => undefined,
    clock,
    log,
  });
  health.start((outage) => outages.push(outage));
  return {
    ...health,
    db,
    clock,
    log,
    outages,
    calls,
    async call() {
      calls.made += 1;
      if (db.callFails !== undefined) throw db.callFails;
      return 'written';
    },
  };
}

function breakDown(store: ReturnType<typeof watched>, error = full): void {
  store.db.checkFails = error;
  store.db.callFails = error;
}

function mend(store: ReturnType<typeof watched>): void {
  delete store.db.checkFails;
  delete store.db.callFails;
}

test('Q9, Q11 a call that waited is made for the queue it was called in, whoever met the outage first', async () => {
  const store = watched();
  const queue = new AsyncLocalStorage<string>();
  const made: (string | undefined)[] = [];
  const call = async (): Promise<void> => {
    if (store.db.callFails !== undefined) throw store.db.callFails;
    made.push(queue.getStore());
  };
  breakDown(store);
  const calls = ['a', 'b', 'c'].map((name) => queue.run(name, () => store.patient(call)));
  await store.clock.advance(2_000);
  mend(store);
  await store.clock.advance(10_000);
  await Promise.all(calls);
  assert.deepEqual(made.toSorted(), ['a', 'b', 'c']);
});

test('Q11 a call that a full disk refuses is made again when there is space, and settles as if nothing had been', async () => {
  const store = watched();
  breakDown(store);
  const written = store.patient(store.call);
  await store.clock.advance(20_000);
  assert.deepEqual(store.state(), {
    ok: false,
    reason: full.message,
    since: store.clock.now() - 20_000,
  });
  mend(store);
  await store.clock.advance(5_000);
  assert.equal(await written, 'written');
  assert.deepEqual(store.state(), { ok: true });
  assert.deepEqual(
    store.outages.map(({ reason }) => reason),
    [full.message],
  );
  store.stop();
});

test('Q11 an error of the call itself is neither waited for nor an outage', async () => {
  const store = watched();
  store.db.callFails = sqliteError(19, 'NOT NULL constraint failed: inbox.key');
  await assert.rejects(store.patient(store.call), /constraint/);
  assert.deepEqual(store.state(), { ok: true });
  store.stop();
});

test('Q11 what arrives is refused at once during an outage, and what is being stored as soon as it begins', async () => {
  const store = watched();
  const stuck = Promise.withResolvers<void>();
  const underWay = assert.rejects(
    store.admitting(() => stuck.promise),
    /full/,
  );
  breakDown(store);
  await assert.rejects(
    store.admitting(async () => void (await store.call())),
    /full/,
  );
  await underWay;
  const before = store.calls.made;
  await assert.rejects(
    store.admitting(async () => void (await store.call())),
    /the store cannot be used now: database or disk is full/,
  );
  assert.equal(store.calls.made, before, 'the work was not even begun');
  mend(store);
  await store.clock.advance(5_000);
  await store.admitting(async () => void (await store.call()));
  store.stop();
});

test('Q11 a disk with room for the check alone stays red until a call that waits gets through', async () => {
  const store = watched();
  store.db.callFails = full;
  const written = store.patient(store.call);
  await store.clock.advance(30_000);
  assert.equal(store.state().ok, false, 'the check succeeds all the time');
  assert.equal(store.log.lines.length, 1, 'one line for one outage');
  mend(store);
  await store.clock.advance(5_000);
  assert.equal(await written, 'written');
  assert.equal(store.state().ok, true);
  store.stop();
});

test('Q11 a disk at its very edge does not flood the log', async () => {
  const store = watched();
  store.db.callFails = full;
  // Nothing waits, so the check decides: every message that arrives turns the state red again.
  for (let second = 0; second < 600; second++) {
    await store.admitting(async () => void (await store.call())).catch(() => undefined);
    await store.clock.advance(1_000);
  }
  assert.ok(store.log.lines.length < 50, `${store.log.lines.length} lines in ten minutes`);
  store.stop();
});

test('Q11 a long outage is one line as it begins, one every ten minutes, one as it ends', async () => {
  const store = watched();
  breakDown(store);
  const waiting = Array.from({ length: 40 }, () => store.patient(store.call));
  await store.clock.advance(31 * 60_000);
  mend(store);
  await store.clock.advance(5_000);
  await Promise.all(waiting);
  assert.deepEqual(
    store.log.lines.map(({ level, message }) => `${level} ${message}`),
    [
      'error the store does not work: the bot accepts and starts nothing until it does',
      ...Array.from({ length: 3 }, () => 'warn the store still does not work'),
      'warn the store works again',
    ],
  );
  store.stop();
});

test('Q11 a fault that nothing else meets is found by looking', async () => {
  const store = watched();
  store.db.checkFails = full;
  await store.clock.advance(60_000);
  assert.equal(store.state().ok, false);
  store.stop();
});

test('Q11 a call that may have been carried out is made again only where that does no harm', async () => {
  const store = watched();
  breakDown(
    store,
    Object.assign(new Error('read ECONNRESET'), { name: 'DatabaseFault', code: 'ECONNRESET' }),
  );
  const once = assert.rejects(store.patient(store.call), /ECONNRESET/);
  const repeatable = store.patient(store.call, { repeatable: true });
  mend(store);
  await store.clock.advance(5_000);
  await once;
  assert.equal(await repeatable, 'written');
  store.stop();
});

test('Q7 Q11 when the bot stops during an outage nothing is waited for', async () => {
  const store = watched();
  breakDown(store);
  const waits = assert.rejects(store.patient(store.call), /disk is full/);
  await store.clock.advance(3_000);
  store.stop();
  await waits;
  await assert.rejects(store.patient(store.call), /disk is full/);
});

test('Q11 damage is told until the process ends, though the store works now and then', async () => {
  const store = watched();
  const damaged = sqliteError(11, 'database disk image is malformed');
  breakDown(store, damaged);
  const written = store.patient(store.call);
  await store.clock.advance(2_000);
  mend(store);
  await store.clock.advance(10_000);
  assert.equal(await written, 'written', 'work goes on as far as it can');
  const state = store.state();
  assert.match(state.ok ? '' : state.reason, /damaged: .*malformed.*skillet restore/);
  assert.equal(store.log.lines.filter(({ message }) => /is damaged/.test(message)).length, 1);
  store.stop();
});

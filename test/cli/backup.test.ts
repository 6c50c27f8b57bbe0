import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { openConnection } from '../../src/store/sqlite/open-connection.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { mountSmallDisk } from '../support/full-disk.ts';
import { makeMessage } from '../support/make-message.ts';

function folder(context: TestContext): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'skillet-backup-'));
  context.after(() => rmSync(dir, { recursive: true }));
  return dir;
}

/** A message of 4,000 characters in a queue of its own. */
function accept(store: Store, n: number): Promise<unknown> {
  const conversation = { channel: 'telegram', chat: String(n) };
  return store.inbox.accept(makeMessage({ id: `k${n}`, conversation, text: `${n} `.repeat(1_000) }), {
    now: 1,
  });
}

test('Q10 a backup that is made while messages are accepted is whole and holds all that was accepted before it began', async (context) => {
  const dir = folder(context);
  const store = await openStore(`sqlite:${dir}/s.db`);
  await Promise.all(Array.from({ length: 4_000 }, (_, n) => accept(store, n)));
  const copy = path.join(dir, 'copy.db');
  const steps: (readonly [number, number])[] = [];
  const meanwhile: Promise<unknown>[] = [];
  await store.backup(copy, (done, total) => {
    meanwhile.push(accept(store, 4_000 + steps.length));
    steps.push([done, total]);
  });
  assert.ok((await Promise.all(meanwhile)).every((how) => how === 'stored'));
  assert.ok(steps.length > 1 && steps.every(([done, total]) => done <= total), 'it says how far it is');
  assert.equal(statSync(copy).mode & 0o777, 0o600);
  assert.deepEqual(
    readdirSync(dir).filter((name) => name.includes('part')),
    [],
  );
  await store.close();

  const db = new DatabaseSync(copy);
  assert.deepEqual({ ...db.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
  db.close();
  const restored = await openStore(`sqlite:${copy}`);
  const keys = new Set((await restored.inbox.list('waiting')).map(({ key }) => key));
  for (let n = 0; n < 4_000; n++) assert.ok(keys.has(`k${n}`), `k${n}`);
  await restored.close();
});

test('Q10 a backup that begins during a write waits for it', async (context) => {
  const dir = folder(context);
  const connection = openConnection(path.join(dir, 's.db'));
  connection.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x); BEGIN IMMEDIATE; INSERT INTO t VALUES (1)');
  let isOver = false;
  const copied = connection.backup(path.join(dir, 'copy.db')).finally(() => (isOver = true));
  for (let turn = 0; turn < 100; turn++) await setImmediate();
  assert.equal(isOver, false);
  connection.exec('COMMIT');
  await copied;
  connection.close();
  const db = new DatabaseSync(path.join(dir, 'copy.db'));
  assert.deepEqual({ ...db.prepare('SELECT x FROM t').get() }, { x: 1 });
  db.close();
});

test('Q10 a backup overwrites nothing', async (context) => {
  const dir = folder(context);
  const store = await openStore(`sqlite:${dir}/s.db`);
  context.after(() => store.close());
  const file = path.join(dir, 'there');
  writeFileSync(file, 'mine');
  await assert.rejects(store.backup(file), {
    name: 'OperatorError',
    message: /there is there already: name a new file/,
  });
  await assert.rejects(store.backup(path.join(dir, 's.db')), { name: 'OperatorError', message: /already/ });
  const twice = await Promise.allSettled([
    store.backup(path.join(dir, 'a')),
    store.backup(path.join(dir, 'a')),
  ]);
  assert.deepEqual(twice.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  assert.deepEqual(
    readdirSync(dir).filter((name) => name.includes('part')),
    [],
  );
});

test('Q10 a backup that can not be written says why and leaves nothing behind', async (context) => {
  const dir = folder(context);
  const store = await openStore(`sqlite:${dir}/s.db`);
  context.after(() => store.close());
  await assert.rejects(store.backup(path.join(dir, 'no', 'such', 'copy')), {
    name: 'OperatorError',
    message: /copy could not be written: .*ENOENT.*Name another place/,
  });
  assert.equal(existsSync(path.join(dir, 'no')), false);
  assert.deepEqual(
    readdirSync(dir).filter((name) => name.includes('copy')),
    [],
  );
});

test('Q10 Q11 a backup onto a full disk says so, leaves nothing behind, and the store goes on', async (context) => {
  const disk = mountSmallDisk(context, '1m');
  if (typeof disk === 'string') return context.skip(disk);
  const store = await openStore(`sqlite:${folder(context)}/s.db`);
  context.after(() => store.close());
  await Promise.all(Array.from({ length: 400 }, (_, n) => accept(store, n)));
  await assert.rejects(store.backup(path.join(disk.folder, 'copy')), {
    name: 'OperatorError',
    message: /copy could not be written: .*full\. There is no room left there/,
  });
  assert.deepEqual(readdirSync(disk.folder), []);
  assert.equal(await accept(store, 400), 'stored');
});

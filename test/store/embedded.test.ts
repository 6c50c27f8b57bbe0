import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';
import { storeContract } from '../support/store-contract.ts';

storeContract(() => openStore('sqlite::memory:'));

function folder(context: TestContext): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'skillet-store-'));
  context.after(() => rmSync(dir, { recursive: true }));
  return dir;
}

function modeOf(file: string): string {
  return (statSync(file).mode & 0o777).toString(8);
}

test('S4 the store and its journals are 0600, directories that it makes 0700', async (context) => {
  const dir = path.join(folder(context), 'new', 'data');
  const store = await openStore('sqlite:./data/s.db', { baseDir: path.dirname(dir) });
  await store.inbox.accept(makeMessage(), { now: 1 });
  for (const name of ['s.db', 's.db-wal', 's.db-shm', 's.db.lock', 's.db.pid']) {
    assert.equal(modeOf(path.join(dir, name)), '600', name);
  }
  for (const made of [dir, path.dirname(dir)]) assert.equal(modeOf(made), '700', made);
  await store.close();
  chmodSync(path.join(dir, 's.db'), 0o644);
  await (await openStore(`sqlite:${dir}/s.db`)).close();
  assert.equal(modeOf(path.join(dir, 's.db')), '600', 'a file that others could read is closed to them');
});

test('Q1 what was accepted is there when the store is opened again', async (context) => {
  const url = `sqlite:${folder(context)}/s.db`;
  const first = await openStore(url);
  await first.inbox.accept(makeMessage({ id: 'k' }), { now: 1 });
  await first.keyed('pairings').set('telegram:42', true);
  await first.close();
  await first.close();
  await assert.rejects(first.inbox.accept(makeMessage({ id: 'l' }), { now: 1 }), /not open/);
  const second = await openStore(url);
  assert.equal((await second.inbox.take('telegram:42', 1))?.key, 'k');
  assert.equal(await second.keyed('pairings').get('telegram:42'), true);
  await second.close();
});

test('Q3 who has much waiting lets others start first after a restart, too', async (context) => {
  const url = `sqlite:${folder(context)}/s.db`;
  const say = async (person: string, id: string): Promise<void> => {
    const store = await openStore(url);
    const sender = { id: `telegram:${person}`, name: person, kind: 'person' } as const;
    const conversation = { channel: 'telegram', chat: id };
    await store.inbox.accept(makeMessage({ id, sender, conversation }), { now: 1 });
    await store.close();
  };
  for (let n = 1; n <= 5; n++) await say('ann', `ann${n}`);
  await say('bob', 'bob1');
  await say('ann', 'ann6');
  const store = await openStore(url);
  const taken: string[] = [];
  const serving = store.inbox.startWorker({
    channels: ['telegram'],
    concurrency: 1,
    async run(queue) {
      const item = await store.inbox.take(queue, Date.now());
      if (item === undefined) return;
      taken.push(item.key);
      await store.commit({ done: item.key });
    },
  });
  await serving.idle();
  await store.close();
  assert.deepEqual(taken, ['ann1', 'bob1', 'ann2', 'ann3', 'ann4', 'ann5', 'ann6']);
});

test('Q12 what is said while older conversations are removed keeps its own whole', async (t) => {
  const store = await openStore('sqlite::memory:');
  t.after(() => store.close());
  const write = (transcript: string, at: number, times = 1): Promise<void> => {
    const entry = { kind: 'notice', text: 'x', at } as const;
    return store.commit({ entries: Array.from({ length: times }, () => ({ transcript, entry })) });
  };
  const lengthOf = async (id: string): Promise<number> => (await store.transcripts.read(id)).entries.length;
  // Several steps, so others have their turn before the last conversation is looked at.
  await write('telegram:1', 1, 3_000);
  await write('telegram:2', 2);
  await write('telegram:3', 2);
  const pruning = store.prune(100, 50);
  while ((await lengthOf('telegram:1')) === 3_000) await setImmediate();
  await write('telegram:3', 100);
  await pruning;
  const left = ['telegram:1', 'telegram:2', 'telegram:3'].map(lengthOf);
  assert.deepEqual(await Promise.all(left), [0, 0, 2]);
});

test('Q10 a store of a newer version is refused and stays as it was', async (context) => {
  const file = path.join(folder(context), 's.db');
  await (await openStore(`sqlite:${file}`)).close();
  const db = new DatabaseSync(file);
  db.exec('PRAGMA user_version = 999');
  db.close();
  const before = readFileSync(file);
  await assert.rejects(openStore(`sqlite:${file}`), {
    name: 'OperatorError',
    message: /newer Skillet: its schema has version 999, this one knows \d+\. Start the newer/,
  });
  assert.deepEqual(readFileSync(file), before);
  await assert.rejects(openStore(`sqlite:${file}`), /newer Skillet/, 'the lock was not given back');
});

test('Q10 the database of another program is refused and stays as it was', async (context) => {
  const file = path.join(folder(context), 'photos.db');
  const db = new DatabaseSync(file);
  db.exec('CREATE TABLE photos (id)');
  db.close();
  const before = readFileSync(file);
  await assert.rejects(openStore(`sqlite:${file}`), { name: 'OperatorError', message: /another program/ });
  assert.deepEqual(readFileSync(file), before);
});

test('Q11 what can not be opened says which file and why', async (context) => {
  const dir = folder(context);
  writeFileSync(
    path.join(dir, 'notes.txt'),
    'not a database, and rather longer than a header is. '.repeat(20),
  );
  await assert.rejects(openStore(`sqlite:${dir}/notes.txt`), {
    name: 'OperatorError',
    message: /notes\.txt can't be used as the store: file is not a database\. Fix that file or write/,
  });
  await assert.rejects(openStore(`sqlite:${dir}/notes.txt/s.db`), {
    name: 'OperatorError',
    message: /s\.db can't be used as the store: \S+notes\.txt is a file, and a folder must be there\./,
  });
});

test('Q11 a folder in place of the file is refused and left as it is', async (context) => {
  const dir = folder(context);
  const before = statSync(dir).mode;
  await assert.rejects(openStore(`sqlite:${dir}`), {
    name: 'OperatorError',
    message: /can't be used as the store: it is no file\./,
  });
  assert.equal(statSync(dir).mode, before);
  assert.equal(existsSync(`${dir}.lock`), false);
});

test('Q8 a url that names no store says what to write and never shows itself', async () => {
  for (const url of ['mysql://u:hunter2@db', 'sqlite:', 'sqlite://data/x.db', './data/x.db', '']) {
    await assert.rejects(openStore(url), (error: Error) => {
      assert.equal(error.name, 'OperatorError');
      assert.match(error.message, /\[store\].*sqlite:\.\/data\/skillet\.db/);
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    });
  }
});

import assert from 'node:assert/strict';
import { StatementSync } from 'node:sqlite';
import { test } from 'node:test';
import { hasProgressed } from '../../src/conversations/has-progressed.ts';
import { createInboxWorker } from '../../src/conversations/inbox-worker.ts';
import { noMeter } from '../../src/core/meter.ts';
import { createStoreHealth } from '../../src/operator/health/store-health.ts';
import { watchStore } from '../../src/operator/health/watch-store.ts';
import { openStore } from '../../src/store/open-store.ts';
import { patientKeyed } from '../../src/store/patient-keyed.ts';
import type { Store } from '../../src/store/store.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import { startWholeBot } from '../support/whole-bot.ts';
import { unmovedChats } from '../support/unmoved-chats.ts';

type Call = (...args: readonly unknown[]) => Promise<unknown>;

/** These give something at once, or are how an outage is met. */
const notCalls = [
  'inbox.startWorker',
  'outbox.startWorker',
  'signals.on',
  'keyed',
  'files',
  'check',
  'lead',
  'close',
];
/** Given in place of arguments: the call then does nothing. */
const probe = {};

function full(): Error {
  return Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
}

function methodsOf(part: object, before = ''): readonly (readonly [string, Call])[] {
  return Object.entries(part).flatMap(([name, one]: [string, unknown]) =>
    typeof one === 'function'
      ? [[`${before}${name}`, one as Call] as const]
      : methodsOf(one as object, `${before}${name}.`),
  );
}

/** The store with one method that fails as often as `left` says, whoever calls it. */
function failing(part: object, path: string, left: { count: number }, before = ''): object {
  return Object.fromEntries(
    Object.entries(part).map(([name, one]: [string, unknown]) => {
      if (typeof one !== 'function') return [name, failing(one as object, path, left, `${before}${name}.`)];
      if (notCalls.includes(`${before}${name}`)) return [name, one];
      const call: Call = async (...args) => {
        if (`${before}${name}` === path && left.count-- > 0) throw full();
        return args[0] === probe ? undefined : (one as Call)(...args);
      };
      return [name, call];
    }),
  );
}

const every = await openStore('sqlite::memory:');
const paths = methodsOf(every)
  .map(([path]) => path)
  .filter((path) => !notCalls.includes(path));
await every.close();
assert.ok(paths.length > 60);

for (const path of paths)
  test(`Q3 Q11 where ${path} of the store fails for a while every message is answered once, in order, and no try is counted`, async (t) => {
    const clock = createManualClock();
    const store = await openStore('sqlite::memory:', { clock });
    t.after(store.close);
    const log = quietLog();
    const health = createStoreHealth({ check: store.check, onFault: () => undefined, clock, log });
    t.after(health.stop);
    const left = { count: 4 };
    const faulty = failing(store, path, left) as Store;
    const watched = watchStore(faulty, health, noMeter);
    const call = methodsOf(watched).find(([name]) => name === path)?.[1];
    assert.ok(call !== undefined);
    const answered: string[] = [];
    const dead: string[] = [];
    const worker = createInboxWorker(
      {
        async handle({ key, tries }) {
          assert.equal(tries, 0);
          await call(probe);
          await watched.commit({ done: key });
          answered.push(key);
        },
        progressed: (item, at) => hasProgressed(item, at, { store: watched, migrations: unmovedChats }),
        onDead: async ({ key }) => void dead.push(key),
        channels: ['telegram'],
        concurrency: 2,
      },
      { store: { ...watched, keyed: patientKeyed(store.keyed, health) }, clock, log },
    );
    worker.start();
    const said = ['telegram:1:1', 'telegram:1:2', 'telegram:1:3'];
    for (const id of said) {
      const message = makeMessage({ id, conversation: { channel: 'telegram', chat: '1' } });
      // The platform sends again what was not taken.
      const accept = (): Promise<unknown> =>
        health.admitting(() => watched.inbox.accept(message, { now: clock.now() }));
      for (let isIn = false; !isIn; await clock.advance(1_000)) isIn = await accept().then(...taken);
    }
    for (let seconds = 0; seconds < 600 && answered.length < said.length; seconds++)
      await clock.advance(1_000);
    assert.deepEqual([answered, dead], [said, []]);
    assert.ok(left.count < 0, 'it failed as often as it should, and then worked');
    assert.deepEqual(await store.inbox.list('waiting'), []);
  });

const taken = [(): boolean => true, (): boolean => false] as const;

const hello = '---\nname: hello\ndescription: Says hello.\n---\nSay hello.\n';

for (const what of ['written-skills', 'tool-settings'])
  test(`Q11 a store that goes away while a start reads ${what} is waited for`, async (t) => {
    // It has two forms, and a spy needs no more than the name.
    const prototype = StatementSync.prototype as unknown as { all(...values: unknown[]): unknown };
    const read = prototype.all;
    const left = { count: 1 };
    prototype.all = function (...values) {
      if (JSON.stringify(values).includes(what) && left.count-- > 0) throw full();
      return read.apply(this, values);
    };
    t.after(() => {
      prototype.all = read;
    });
    const bot = await startWholeBot(t, {
      toml: '[access]\ndm = "open"\n',
      script: ['Here I am.'],
      skills: { hello },
    });
    assert.ok(left.count <= 0, 'the store failed');
    const ann = bot.telegram.person({ name: 'Ann' });
    ann.says('Are you there?');
    await ann.dm.nextMessage('Here I am.');
  });

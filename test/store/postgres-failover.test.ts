import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { storeFault } from '../../src/store/store-fault.ts';
import { startMovingAddress } from '../support/machines/moving-address.ts';
import { makeMessage } from '../support/make-message.ts';
import { noPostgres, startPostgresPair, type PostgresPair } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';
import { until } from '../support/until.ts';

const conversation = { channel: 'telegram', chat: '1' };
const transcript = 'telegram:1';

async function pair(t: TestContext): Promise<PostgresPair | undefined> {
  const server = await startPostgresPair();
  if (server === undefined) t.skip(noPostgres);
  else t.after(() => server.close());
  return server;
}

/** The server behind an address that can move. */
async function addressOf(t: TestContext, server: PostgresPair, url: string) {
  const address = await startMovingAddress({ host: '127.0.0.1', port: 0 }, server.sockets.primary);
  t.after(() => address.close());
  return { address, url: `postgres://skillet@127.0.0.1:${address.port}${new URL(url).pathname}` };
}

const note = (content: string) => ({ transcript, entry: { kind: 'user', content, at: 1 } }) as const;

test('Q9 Q11 the standby never got the last step: with its promotion the queue is lost, the late write is refused, and the message is answered from what is there', async (t) => {
  const server = await pair(t);
  if (server === undefined) return;
  const { address, url } = await addressOf(t, server, await server.database());
  const store = await openStore(url);
  t.after(() => store.close());
  await store.inbox.accept(makeMessage({ id: 'm', conversation }), { now: 1 });
  const seen: string[] = [];
  const turns = { begun: 0 };

  async function failOver(): Promise<void> {
    // To disk, with the claim of this queue before it. What comes then is not there.
    await store.check();
    await server?.standby.stop('fast');
    await store.commit({ entries: [note('forgotten')] });
    await server?.stop('crash');
    await server?.standby.start();
    await server?.promote();
    address.moveTo(server?.sockets.standby ?? '');
  }

  /** What a write is told, once the database is there again. */
  async function lateWrite(): Promise<string> {
    for (;;) {
      const told = await store.commit({ entries: [note('late')] }).then(
        () => 'written',
        (error: unknown) => (storeFault(error) === undefined ? String(error) : undefined),
      );
      if (told !== undefined) return told;
    }
  }

  const serving = store.inbox.startWorker({
    channels: ['telegram'],
    concurrency: 1,
    async run(queue) {
      const item = await store.inbox.take(queue, Date.now());
      if (item === undefined) return;
      turns.begun += 1;
      if (turns.begun === 1) {
        seen.push(await failOver().then(lateWrite, String));
        return;
      }
      await store.commit({ done: item.key, entries: [note('again')] });
      seen.push('answered');
    },
  });
  t.after(() => serving.stop());
  await until(() => seen.length >= 2);
  assert.match(seen[0] ?? '', /was lost to another process: nothing was written/);
  assert.deepEqual(seen.slice(1), ['answered']);
  const { entries } = await store.transcripts.read(transcript);
  assert.deepEqual(
    entries.map(({ entry }) => (entry.kind === 'user' ? entry.content : entry.kind)),
    ['again'],
  );
});

test('Q9 Q11 while a synchronous standby is away nothing is accepted, the check says so before a call gives up, and all goes on when it is back', async (t) => {
  const server = await pair(t);
  if (server === undefined) return;
  const store = await openStore(await server.database());
  t.after(() => store.close());
  await server.standby.stop('fast');
  const accepted = { done: false };
  const accept = () => store.inbox.accept(makeMessage({ id: 'm', conversation }), { now: 1 });
  const accepting = accept().finally(() => (accepted.done = true));
  await assert.rejects(store.check(), (error) => storeFault(error) !== undefined);
  assert.equal(accepted.done, false);
  await server.standby.start();
  // Where the standby takes long to come back, the platform sends it again.
  const outcome = await accepting.catch(() => accept());
  assert.ok(outcome === 'stored' || outcome === 'duplicate', outcome);
  await store.check();
});

test('Q10 Q11 a start at a standby is refused with the fix, or waits until it is promoted', async (t) => {
  const server = await pair(t);
  if (server === undefined) return;
  const url = await server.database();
  await (await openStore(url)).close();
  const standby = server.standby.url(new URL(url).pathname.slice(1));
  await assert.rejects(openStore(standby), {
    name: 'OperatorError',
    message: /it is a standby.*address of the primary/,
  });
  const log = quietLog();
  const opening = openStore(standby, { log, until: new AbortController().signal });
  await log.line(({ level, message }) => level === 'warn' && /is away/.test(message));
  await server.stop('crash');
  await server.promote();
  const store: Store = await opening;
  await store.check();
  await store.close();
});

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { createInboxWorker } from '../../src/conversations/inbox-worker.ts';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

type Given = Readonly<{
  /** The process ends half a second after it began with such a chat's message. */
  kills?: (chat: string) => boolean;
  /** Chats whose messages arrive now. */
  says?: readonly string[];
  progressed?: boolean;
  asks?: string;
  /** It is stopped as soon as a message is held. */
  untilHeld?: true;
  /** The store was away just before. */
  wasAway?: true;
}>;

/** Processes that follow one another on one store. Each message takes a second. */
async function lives(
  t: TestContext,
  clock: Clock & Readonly<{ advance(ms: number): Promise<void> }> = createManualClock(),
  database?: string,
) {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-suspects-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const dead: string[] = [];
  const answered: string[] = [];
  let said = 0;

  /** One process, for so long or until it ends by a message; says whether it did. */
  async function live(
    ms: number,
    { kills, says = [], progressed = false, asks, untilHeld, wasAway }: Given = {},
  ): Promise<boolean> {
    const store = await openStore(database ?? `sqlite:${folder}/store.db`, { clock });
    const life = { ended: false };
    const worker = createInboxWorker(
      {
        async handle({ key, message }) {
          const { chat } = message.conversation;
          const isKiller = kills?.(chat) === true;
          await clock.sleep(isKiller ? 500 : 1_000);
          if (isKiller || life.ended) {
            life.ended = true;
            return new Promise(() => undefined);
          }
          await store.commit({ done: key });
          answered.push(chat);
        },
        progressed: async () => progressed,
        onDead: async ({ message }) => void dead.push(message.conversation.chat),
        channels: ['telegram'],
        concurrency: 8,
      },
      { store, clock, log: quietLog() },
    );
    for (const chat of says) {
      const conversation = { channel: 'telegram', chat };
      const message = makeMessage({ id: `telegram:${chat}:${said++}`, conversation });
      await store.inbox.accept(message, { now: clock.now() });
      if (chat === asks)
        await store.pendingRequests.add({
          id: 'a1',
          kind: 'approval',
          requester: message.sender.id,
          conversation,
          expiresAt: clock.now() + 24 * 60 * 60_000,
        } as never);
    }
    if (wasAway === true) await worker.storeWasAway();
    worker.start();
    for (let at = 0; at < ms && !life.ended; at += 500) {
      await clock.advance(500);
      await new Promise(setImmediate);
      const waiting = untilHeld === undefined ? [] : await store.inbox.list('waiting');
      if (waiting.some(({ error = '' }) => error.includes('it waits from'))) break;
      // Nothing else can happen.
      if (at > 20_000 && (await store.inbox.list('waiting')).length === 0) break;
    }
    const { ended } = life;
    life.ended = true;
    await store.close();
    return ended;
  }
  return { live, dead, answered };
}

const chats = ['1', '2', '3', '4', '5', '6', '7', '8'];

test('S15 a message that ends the process is set aside after its second death, and costs nobody else an answer', async (t) => {
  const { live, dead, answered } = await lives(t);
  const kills = (chat: string): boolean => chat === '3';
  let deaths = 0;
  assert.equal(await live(60_000, { kills, says: chats }), true);
  while (await live(60_000, { kills })) deaths++;
  assert.equal(deaths, 1);
  assert.deepEqual(dead, ['3']);
  assert.deepEqual(answered.toSorted(), ['1', '2', '4', '5', '6', '7', '8']);
});

test('S15 while a message is held nobody else is kept waiting, and no suspect runs', async (t) => {
  const { live, dead, answered } = await lives(t);
  const kills = (chat: string): boolean => chat === '3' || chat === '6';
  assert.equal(await live(60_000, { kills, says: ['3', '6'] }), true);
  assert.equal(await live(60_000, { kills }), true);
  assert.equal(await live(10_000, { kills, says: ['9'] }), false, 'the other suspect waits');
  assert.deepEqual([answered, dead], [['9'], []]);
});

test('S15 processes that are killed from outside set no message aside, however many messages die alone', async (t) => {
  for (const everyMs of [1_500, 3_000]) {
    const { live, dead, answered } = await lives(t);
    for (let kill = 0; kill < 60; kill++)
      await live(everyMs, { says: kill % 10 === 0 ? chats.map((chat) => `${kill}-${chat}`) : [] });
    await live(60 * 60_000);
    assert.deepEqual(dead, [], `killed every ${everyMs} ms`);
    assert.equal(new Set(answered).size, 6 * chats.length);
  }
});

test('S15 Q11 a message that the store cut off by being away, and a kill after that, is answered', async (t) => {
  for (const wasAway of [true, undefined] as const) {
    const { live, dead, answered } = await lives(t);
    await live(500, { says: ['1'] });
    await live(500, { wasAway });
    await live(60 * 60_000);
    assert.deepEqual([answered, dead], wasAway ? [['1'], []] : [[], ['1']]);
  }
});

test('S15 a message that ends the process is set aside in the end, though processes are killed from outside as well', async (t) => {
  const { live, dead, answered } = await lives(t);
  const kills = (chat: string): boolean => chat === '3';
  for (let kill = 0; kill < 20; kill++) await live(2_500, { kills, says: kill === 0 ? chats : [] });
  let deaths = 0;
  while (await live(60 * 60_000, { kills })) assert.ok(++deaths < 40, 'it dies again and again');
  assert.deepEqual(dead, ['3']);
  assert.equal(new Set(answered).size, 7);
});

test('S15 several messages that end the process are set aside, in whichever conversations they arrive', async (t) => {
  const { live, dead } = await lives(t);
  const kills = (chat: string): boolean => chat.startsWith('bad');
  let deaths = 0;
  const says = [['bad 1', 'bad 2', 'good'], ['bad 3'], [], ['bad 4']];
  while (await live(60 * 60_000, { kills, says: says[deaths] ?? [] }))
    assert.ok(++deaths < 60, 'it dies again and again');
  assert.deepEqual(dead.toSorted(), ['bad 1', 'bad 2', 'bad 3', 'bad 4']);
});

test('S15 a message that gets further each time is not set aside by a few deaths, but not retried for ever', async (t) => {
  const { live, dead } = await lives(t);
  const given = { kills: (chat: string): boolean => chat === '3', progressed: true };
  let deaths = 0;
  while (await live(10 * 60_000, { ...given, says: deaths === 0 ? ['3'] : [] }))
    assert.ok(++deaths < 20, 'it dies again and again');
  assert.equal(deaths, 8);
  assert.deepEqual(dead, ['3']);
});

/** Another server of its own time, which no test can hold still: it passes faster. */
function fastClock(): Clock & Readonly<{ advance(ms: number): Promise<void> }> {
  const began = Date.now();
  const sleep: Clock['sleep'] = (ms, signal) => systemClock.sleep(ms / speed, signal);
  return { now: () => began + (Date.now() - began) * speed, sleep, advance: (ms) => sleep(ms) };
}

const speed = 10;
const server = await startPostgres();
after(() => server?.close());

test('S15 Q9 on PostgreSQL, too, a message that ends the process is set aside after its second death', async (t) => {
  if (server === undefined) return t.skip(noPostgres);
  const { live, dead, answered } = await lives(t, fastClock(), await server.database());
  const kills = (chat: string): boolean => chat === '3';
  let deaths = 1;
  assert.equal(await live(3_600_000, { kills, says: chats }), true);
  while (await live(3_600_000, { kills })) assert.ok(++deaths < 10, 'it dies again and again');
  assert.deepEqual([deaths, dead], [2, ['3']]);
  assert.deepEqual(answered.toSorted(), ['1', '2', '4', '5', '6', '7', '8']);
});

test('S15 Q9 on PostgreSQL, too, a restart while a message is held acquits it', async (t) => {
  if (server === undefined) return t.skip(noPostgres);
  const { live, dead, answered } = await lives(t, fastClock(), await server.database());
  let deaths = 0;
  const kills = (chat: string): boolean => chat === '3' && deaths < 2;
  while (deaths < 2) if (await live(3_600_000, { kills, says: deaths === 0 ? ['3'] : [] })) deaths++;
  assert.equal(await live(3_600_000, { untilHeld: true }), false);
  assert.deepEqual([answered, dead], [[], []], 'it is held');
  await live(3_600_000);
  assert.deepEqual([answered, dead], [['3'], []]);
});

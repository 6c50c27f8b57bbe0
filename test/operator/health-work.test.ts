import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { createDelivery } from '../../src/replies/deliver.ts';
import { createStoreHealth } from '../../src/operator/health/store-health.ts';
import { watchStore } from '../../src/operator/health/watch-store.ts';
import type { Channel } from '../../src/core/channel.ts';
import type { Meter } from '../../src/core/meter.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import { noFiles } from '../support/no-files.ts';

const conversation = { channel: 'telegram', chat: '1' };

/** The outbox at work on a store in a file that another connection can lock. `onSend` is what the platform does. */
async function delivering(t: TestContext, onSend: (text: string) => void) {
  const dir = mkdtempSync(path.join(tmpdir(), 'skillet-health-'));
  const clock = createManualClock();
  const log = quietLog();
  const plain = await openStore(`sqlite:${dir}/s.db`, { clock, log });
  const other = new DatabaseSync(path.join(dir, 's.db'));
  const counted = new Map<string, number>();
  const meter: Meter = {
    count(name, labels, by = 1) {
      const key = [name, ...Object.values(labels)].join(' ');
      counted.set(key, (counted.get(key) ?? 0) + by);
    },
    turn: () => undefined,
  };
  const health = createStoreHealth({ check: plain.check, onFault: () => undefined, clock, log });
  const store = watchStore(plain, health, meter);
  const sent: string[] = [];
  const channel: Pick<Channel, 'name' | 'send' | 'find'> = {
    name: 'telegram',
    async send(_conversation, { markdown }, _key, begin) {
      await begin?.();
      sent.push(markdown);
      onSend(markdown);
      return { id: markdown };
    },
    find: async () => undefined,
  };
  const delivery = createDelivery({
    outbox: store.outbox,
    store,
    channels: new Map([['telegram', channel as Channel]]),
    currentPlace: async (place) => place,
    onMoved: async () => undefined,
    outgoing: noFiles,
    clock,
    log,
  });
  t.after(async () => {
    health.stop();
    await delivery.stop(0);
    other.close();
    await plain.close();
    rmSync(dir, { recursive: true });
  });
  const write = (...texts: readonly string[]) =>
    store.commit({ outbox: texts.map((key) => ({ key, conversation, part: { markdown: key } })) });
  return {
    store,
    health,
    delivery,
    clock,
    log,
    sent,
    counted,
    write,
    lock: () => other.exec('BEGIN IMMEDIATE'),
    unlock: () => other.exec('ROLLBACK'),
  };
}

test('Q6 Q11 a part that was sent when the store could not note it any more is not sent again', async (t) => {
  const bot = await delivering(t, (text) => {
    if (text === 'first') bot.lock();
  });
  await bot.write('first', 'second');
  bot.delivery.start();
  await bot.clock.advance(2_000);
  assert.equal(bot.health.state().ok, false);
  assert.deepEqual(bot.sent, ['first'], 'nothing else is sent before the first one is noted');
  bot.unlock();
  await bot.clock.advance(10_000);
  assert.deepEqual(bot.sent, ['first', 'second']);
  assert.equal(await bot.store.outbox.pending(conversation), 0);
  assert.deepEqual(Object.fromEntries(bot.counted), { 'sends sent': 2 });
});

test('Q11 nothing is sent, and nothing logged over and over, while the store cannot be written', async (t) => {
  const bot = await delivering(t, () => undefined);
  await bot.write('first');
  bot.lock();
  bot.delivery.start();
  await bot.clock.advance(12_000);
  assert.deepEqual(bot.sent, []);
  assert.deepEqual(
    bot.log.lines.map(({ message }) => message),
    ['the store does not work: the bot accepts and starts nothing until it does'],
  );
  bot.unlock();
  await bot.clock.advance(10_000);
  assert.deepEqual(bot.sent, ['first']);
});

test('Q11 what arrives in an outage is refused by the store itself, what is under way is kept', async (t) => {
  const bot = await delivering(t, () => undefined);
  bot.lock();
  await assert.rejects(bot.store.inbox.accept(makeMessage(), { now: 1 }), /locked/);
  const result = bot.store.commit({
    entries: [{ transcript: 't', entry: { kind: 'notice', text: 'the result of a tool', at: 1 } }],
  });
  await bot.clock.advance(3_000);
  bot.unlock();
  await bot.clock.advance(10_000);
  await result;
  assert.equal((await bot.store.transcripts.read('t')).entries.length, 1);
  assert.equal(await bot.store.inbox.accept(makeMessage(), { now: 1 }), 'stored');
});

test('L4 what becomes of messages and parts is counted', async (t) => {
  const { store, counted, write } = await delivering(t, () => undefined);
  const message = (id: string) => makeMessage({ id, conversation });
  for (const id of ['a', 'a', 'b', 'c']) await store.inbox.accept(message(id), { now: 1 });
  for (let n = 0; n < 50; n++) await store.inbox.accept(message(`${n}`), { now: 1 });
  await store.inbox.fail('a', 'gone wrong', 2);
  await store.inbox.fail('a', 'gone wrong', undefined);
  await store.commit({
    done: 'b',
    outbox: [{ key: 'b#0', conversation, part: { markdown: 'an answer' } }],
  });
  await store.commit({ done: 'c' });
  await write('sent', 'refused');
  await store.outbox.retry('sent', 'too many requests', 2);
  await store.outbox.repeated('sent');
  await store.outbox.sent('sent', { id: '1' });
  await store.outbox.dead('refused', 'blocked');
  assert.deepEqual(Object.fromEntries(counted), {
    'messages accepted': 50,
    'messages duplicate': 1,
    'messages queue_full': 3,
    failed_tries: 2,
    set_aside: 1,
    answers: 1,
    'sends retried': 1,
    'sends repeated': 1,
    'sends sent': 1,
    'sends given_up': 1,
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, type Clock } from '../../src/core/clock.ts';
import { startTelegramBot } from '../support/telegram-bot.ts';

/** Time passes a hundred times as fast for the channel: a refresh every 4 s comes every 40 ms. */
const fast: Clock = {
  now: () => systemClock.now() * 100,
  sleep: (ms, signal) => systemClock.sleep(ms / 100, signal),
};
const noFlood = { flood: false };

test('H7 typing is shown at once, refreshed while work goes on, and ends with it', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  await bot.channel.status(place, { kind: 'typing' });
  await bot.server.until('three signs', () => ann.dm.actions().length >= 3);
  await bot.channel.status(place, undefined);
  const count = ann.dm.actions().length;
  await bot.channel.send(place, { markdown: 'done' }, 'k');
  await systemClockTick(bot.server.until('a later answer', () => ann.dm.sent().length === 1));
  assert.equal(ann.dm.actions().length, count);
});

test('H7 a status line is one message that changes and is gone when the status is removed', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  await bot.channel.status(place, { kind: 'line', text: 'research: reading · step 1' });
  await ann.dm.nextMessage('step 1');
  await bot.channel.status(place, { kind: 'line', text: 'research: reading · step 2' });
  await bot.server.until('the change', () => ann.dm.sent()[0]?.text.includes('step 2'));
  assert.equal(ann.dm.sent().length, 1);
  await bot.channel.status(place, undefined);
  assert.equal(ann.dm.sent().length, 0);
});

test('H7 a line that is still on its way when the status is removed is deleted too', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  const held = Promise.withResolvers<void>();
  bot.server.faults.add({ method: 'sendMessage', hold: held.promise });
  await bot.channel.status(place, { kind: 'line', text: 'working' });
  await bot.server.until('the send', () => bot.server.calls('sendMessage').length === 1);
  const removed = bot.channel.status(place, undefined);
  held.resolve();
  await removed;
  assert.deepEqual(
    ann.dm.everSent().map(({ text, deleted }) => [text, deleted]),
    [['working', true]],
  );
});

test('H7 a line whose deletion fails for a while is deleted all the same', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const group = bot.server.group();
  const place = { channel: 'telegram', chat: String(group.id) };
  await bot.channel.status(place, { kind: 'line', text: 'working' });
  await group.nextMessage('working');
  bot.server.faults.add({ method: 'deleteMessage', cut: 'before' });
  bot.server.faults.add({ method: 'deleteMessage', retryAfter: 2 });
  await bot.channel.status(place, undefined);
  assert.equal(group.sent().length, 0);
});

test('H7 a status that comes back while the old one is being removed is shown, and nothing stays at a stop', async () => {
  const bot = await startTelegramBot({ clock: fast, server: noFlood });
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  await bot.channel.status(place, { kind: 'line', text: 'first' });
  await ann.dm.nextMessage('first');
  const removed = bot.channel.status(place, undefined);
  await bot.channel.status(place, { kind: 'line', text: 'second' });
  await removed;
  await ann.dm.nextMessage('second');
  await bot.channel.stop();
  assert.equal(ann.dm.sent().length, 0);
  await bot.server.close();
});

test('H7 status never fails and never writes where the bot may not', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const group = bot.server.group();
  group.setBot('kicked');
  const place = { channel: 'telegram', chat: String(group.id) };
  await bot.channel.status(place, { kind: 'line', text: 'working' });
  await bot.server.until('both tries', () => bot.server.calls('sendMessage').length === 1);
  await bot.channel.status(place, undefined);
  assert.equal(bot.server.calls('sendChatAction').length, 1);
});

test('H7 status in a topic stays in that topic', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const group = bot.server.group({ forum: true });
  const topic = group.topic('News');
  await bot.channel.status(
    { channel: 'telegram', chat: String(group.id), thread: String(topic) },
    { kind: 'line', text: 'working' },
  );
  const line = await group.nextMessage('working');
  assert.deepEqual([line.thread, group.actions()[0]?.thread], [topic, topic]);
});

test('H8 a status line changes at most once a second in private and never eats the answer’s place', async () => {
  await using bot = await startTelegramBot({ paced: true });
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  for (let step = 0; step < 50; step++) {
    await bot.channel.status(place, { kind: 'line', text: `step ${step}` });
  }
  await ann.dm.nextMessage('step');
  const sends = () => bot.server.calls('sendMessage').length + bot.server.calls('editMessageText').length;
  assert.equal(sends(), 1);
  await bot.channel.status(place, undefined);
  for (const text of ['a', 'b', 'c']) await bot.channel.send(place, { markdown: text }, text);
  assert.ok(bot.server.calls('sendMessage').every(({ answer }) => answer?.['ok'] === true));
});

/** Gives what was promised after the event loop has turned: whatever was about to be sent would have left. */
async function systemClockTick<T>(promise: Promise<T>): Promise<T> {
  const value = await promise;
  await new Promise((resolve) => setImmediate(resolve));
  return value;
}

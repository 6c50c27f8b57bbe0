import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { keptPlaceholder } from '../support/kept-placeholder.ts';
import { startTelegramBot } from '../support/telegram-bot.ts';

/** Time passes a hundred times as fast for the channel: a refresh every 4 s comes every 40 ms. */
const fast: Clock = {
  now: () => systemClock.now() * 100,
  sleep: (ms, signal) => systemClock.sleep(ms / 100, signal),
};
const noFlood = { flood: false };
const line = (text: string) => ({ kind: 'line', text }) as const;

test('H7 typing is shown at once, refreshed while work goes on, and ends with it', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  const work = keptPlaceholder();
  await bot.channel.status(place, { kind: 'typing' }, work);
  await bot.server.until('three signs', () => ann.dm.actions().length >= 3);
  await bot.channel.status(place, undefined, work);
  const count = ann.dm.actions().length;
  await bot.channel.send(place, { markdown: 'done' }, 'k');
  await systemClockTick(bot.server.until('a later answer', () => ann.dm.sent().length === 1));
  assert.equal(ann.dm.actions().length, count);
});

test('Q6 H7 U13 a status line is one silent message that changes, whose receipt is kept', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const group = bot.server.group();
  const asked = bot.server.person().says('@test_bot hi', { in: group });
  const place = { channel: 'telegram', chat: String(group.id) };
  const work = keptPlaceholder({ replyTo: String(asked) });
  await bot.channel.status(place, line('research: reading · step 1'), work);
  const first = await group.nextMessage('step 1');
  assert.deepEqual(await work.first, { id: String(first.id), silent: true });
  assert.deepEqual([first.replyTo, first.silent], [asked, true]);
  await bot.channel.status(place, line('research: reading · step 2'), work);
  await bot.server.until('the change', () => group.sent()[0]?.text.includes('step 2'));
  await bot.channel.status(place, undefined, work);
  assert.equal(group.everSent().length, 1);
});

test('Q6 a line of a process before is gone on with, not posted again', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  const stored = await bot.channel.send(place, { markdown: 'step 1' }, 'k');
  await bot.channel.status(place, line('step 2'), keptPlaceholder({ stored }));
  await bot.server.until('the change', () => ann.dm.sent()[0]?.text === 'step 2');
  assert.equal(ann.dm.everSent().length, 1);
});

test('Q6 an answer that says what is shown already, or that Telegram can not parse, takes its place all the same', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  const receipt = await bot.channel.send(place, { markdown: 'same' }, 'k');
  await bot.channel.edit(place, receipt, { markdown: 'same' });
  const description = 'Bad Request: can\'t parse entities: Unsupported start tag "x" at byte offset 0';
  bot.server.faults.add({ method: 'editMessageText', status: { code: 400, description } });
  await bot.channel.edit(place, receipt, { markdown: '**a** < b' });
  assert.deepEqual(
    ann.dm.everSent().map(({ text }) => text),
    ['a < b'],
  );
});

test('Q6 a line that is still on its way when the work ends is known before the answer', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  const work = keptPlaceholder();
  const held = Promise.withResolvers<void>();
  bot.server.faults.add({ method: 'sendMessage', hold: held.promise });
  await bot.channel.status(place, line('working'), work);
  await bot.server.until('the send', () => bot.server.calls('sendMessage').length === 1);
  const ended = bot.channel.status(place, undefined, work);
  held.resolve();
  await ended;
  assert.deepEqual(
    work.receipts,
    ann.dm.sent().map(({ id }) => ({ id: String(id), silent: true })),
  );
});

test('Q6 a line whose receipt could not be kept goes again, and one that may have been posted is not posted twice', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  const work = keptPlaceholder({ keepFails: new Error('the queue was lost') });
  await bot.channel.status(place, line('working'), work);
  await bot.server.until('the deletion', () => ann.dm.everSent()[0]?.deleted);
  await bot.channel.status(place, line('still working'), work);
  await bot.channel.status(place, undefined, work);
  assert.deepEqual([ann.dm.sent().length, ann.dm.everSent().length], [0, 1]);

  const other = keptPlaceholder({ key: 'other' });
  bot.server.faults.add({ method: 'sendMessage', cut: 'after' });
  await bot.channel.status(place, line('working'), other);
  await bot.until('the fault', () => bot.lines.some(({ message }) => message.includes('could not be shown')));
  await bot.channel.status(place, line('still working'), other);
  await bot.channel.status(place, undefined, other);
  assert.equal(ann.dm.sent().length, 1);
});

test('Q6 removing a message that is gone already is no error, one too old is a refusal', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  const receipt = await bot.channel.send(place, { markdown: 'x' }, 'k');
  await bot.channel.remove(place, receipt);
  await bot.channel.remove(place, receipt);
  assert.equal(ann.dm.sent().length, 0);
  const description = "Bad Request: message can't be deleted";
  bot.server.faults.add({ method: 'deleteMessage', status: { code: 400, description } });
  await assert.rejects(bot.channel.remove(place, receipt), { name: 'SendError', outcome: 'refused' });
});

test('H7 two pieces of work in one chat have lines of their own, and a stop leaves both for their answers', async () => {
  const bot = await startTelegramBot({ clock: fast, server: noFlood });
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  await bot.channel.status(place, line('first'), keptPlaceholder({ key: 'a' }));
  await bot.channel.status(place, line('second'), keptPlaceholder({ key: 'b' }));
  await ann.dm.nextMessage('first');
  await ann.dm.nextMessage('second');
  await bot.channel.stop();
  assert.equal(ann.dm.sent().length, 2);
  await bot.server.close();
});

test('H7 status never fails and never writes where the bot may not', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const group = bot.server.group();
  group.setBot('kicked');
  const place = { channel: 'telegram', chat: String(group.id) };
  const work = keptPlaceholder();
  await bot.channel.status(place, line('working'), work);
  await bot.server.until('both tries', () => bot.server.calls('sendMessage').length === 1);
  await bot.channel.status(place, line('still working'), work);
  await bot.channel.status(place, undefined, work);
  assert.equal(bot.server.calls('sendChatAction').length, 1);
  assert.equal(bot.server.calls('sendMessage').length, 1);
});

test('H7 status in a topic stays in that topic', async () => {
  await using bot = await startTelegramBot({ clock: fast, server: noFlood });
  const group = bot.server.group({ forum: true });
  const topic = group.topic('News');
  const place = { channel: 'telegram', chat: String(group.id), thread: String(topic) };
  await bot.channel.status(place, line('working'), keptPlaceholder());
  const shown = await group.nextMessage('working');
  assert.deepEqual([shown.thread, group.actions()[0]?.thread], [topic, topic]);
});

test('H8 a status line changes at most once a second in private and never eats the answer’s place', async () => {
  await using bot = await startTelegramBot({ paced: true });
  const ann = bot.server.person();
  ann.says('hi');
  const place = { channel: 'telegram', chat: String(ann.id) };
  const work = keptPlaceholder();
  for (let step = 0; step < 50; step++) await bot.channel.status(place, line(`step ${step}`), work);
  await ann.dm.nextMessage('step');
  const sends = () => bot.server.calls('sendMessage').length + bot.server.calls('editMessageText').length;
  assert.equal(sends(), 1);
  await bot.channel.status(place, undefined, work);
  for (const text of ['a', 'b', 'c']) await bot.channel.send(place, { markdown: text }, text);
  assert.ok(bot.server.calls('sendMessage').every(({ answer }) => answer?.['ok'] === true));
});

/** Gives what was promised after the event loop has turned: whatever was about to be sent would have left. */
async function systemClockTick<T>(promise: Promise<T>): Promise<T> {
  const value = await promise;
  await new Promise((resolve) => setImmediate(resolve));
  return value;
}

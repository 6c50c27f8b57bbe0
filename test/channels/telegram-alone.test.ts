import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SendError } from '../../src/core/errors.ts';
import { startTelegramBot } from '../support/telegram-bot.ts';

const isRefused = (error: unknown): boolean => error instanceof SendError && error.outcome === 'refused';

/** A bot that is an administrator of a group, and a clock that the test sets. */
async function stage() {
  const time = { now: Date.UTC(2026, 10, 29) };
  const clock = { now: () => time.now, sleep: async () => undefined };
  const bot = await startTelegramBot({ clock, server: { clock, flood: false } });
  const group = bot.server.group();
  group.setBot('administrator');
  const ann = bot.server.person({ name: 'Ann' });
  const place = { channel: 'telegram', chat: String(group.id) };
  const part = (markdown: string) => ({
    markdown,
    onlyTo: `telegram:${ann.id}`,
    privately: { at: time.now },
  });
  return { ...bot, time, group, ann, place, part, [Symbol.asyncDispose]: () => bot[Symbol.asyncDispose]() };
}

test('U16 a private message can be changed and removed, and its receipt says whose it is', async () => {
  await using at = await stage();
  const { channel, group, ann, place, part } = at;
  const receipt = await channel.send(place, part('**one**'), 'k#0');
  assert.equal(receipt.onlyTo, `telegram:${ann.id}`);
  await channel.edit(place, receipt, part('two'));
  assert.deepEqual(group.shownTo(ann)[0]?.texts, ['one', 'two']);
  await channel.remove(place, receipt);
  await channel.remove(place, receipt);
  assert.deepEqual([group.shownTo(ann), group.everSent()], [[], []]);
});

test('U16 after 15 s the person may be away, so an administrator does not whisper any more', async () => {
  await using at = await stage();
  const { channel, group, ann, place, part, time } = at;
  const late = part('late');
  time.now += 15_001;
  await assert.rejects(channel.send(place, late, 'k#0'), isRefused);
  assert.deepEqual([group.shownTo(ann), group.everSent()], [[], []]);
});

test('U16 files and messages in a direct message: the first are refused in a group, the second are plain', async () => {
  await using at = await stage();
  const { channel, group, ann, place, part } = at;
  ann.says('hi');
  const file = { id: 'f', name: 'a.txt', mime: 'text/plain', size: 1, path: import.meta.filename };
  await assert.rejects(channel.send(place, { ...part(''), file }, 'k#0'), isRefused);
  await channel.send({ ...place, chat: String(ann.id) }, part('here'), 'k#1');
  assert.equal((await ann.dm.nextMessage()).text, 'here');
  assert.deepEqual(group.everSent(), []);
});

test('U16 a server that shows a private message to everybody has it taken back, and gets no second one', async () => {
  await using at = await stage();
  const { channel, group, ann, place, part, server } = at;
  server.faults.add({ method: 'sendMessage', forgets: 'ephemeral_message_parameters' });
  await assert.rejects(channel.send(place, part('secret'), 'k#0'), isRefused);
  assert.deepEqual(group.sent(), []);
  await assert.rejects(channel.send(place, part('secret'), 'k#1'), isRefused);
  assert.equal(group.everSent().length, 1);
  assert.deepEqual(group.shownTo(ann), []);
});

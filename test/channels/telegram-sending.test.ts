import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Conversation } from '../../src/core/conversation.ts';
import { keptPlaceholder } from '../support/kept-placeholder.ts';
import { sendFailure } from '../support/send-failure.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { equalData } from '../support/equal-data.ts';
import { startTelegramBot, type TelegramBot } from '../support/telegram-bot.ts';
import type { Chat } from '../servers/telegram/room.ts';

const noFlood = { server: { flood: false } };

function placeOf(chat: Pick<Chat, 'id'>, thread?: number): Conversation {
  return {
    channel: 'telegram',
    chat: String(chat.id),
    ...(thread === undefined ? {} : { thread: String(thread) }),
  };
}

function lastArguments(bot: TelegramBot, method: string): Readonly<Record<string, unknown>> {
  return bot.server.calls(method).at(-1)?.args ?? {};
}

test('H1 Markdown arrives formatted, with buttons, as an answer to a message', async () => {
  await using bot = await startTelegramBot();
  const ann = bot.server.person();
  const asked = ann.says('hi');
  const part = {
    markdown: '**bold** and `code`',
    buttons: [
      { label: 'Yes', action: 'yes' },
      { label: 'Read', url: 'https://example.org/a' },
    ],
    replyTo: String(asked),
  };
  const receipt = await bot.channel.send(placeOf(ann.dm), part, 'k');
  const [sent] = ann.dm.sent();
  assert.equal(receipt.id, String(sent?.id));
  assert.equal(sent?.text, 'bold and code');
  assert.deepEqual(
    sent?.entities.map(({ type }) => type),
    ['bold', 'code'],
  );
  assert.deepEqual(sent?.buttons, ['Yes', 'Read']);
  assert.equal(sent?.replyTo, asked);
});

test('H2 link previews are off on a send, an edit and a status line', async () => {
  await using bot = await startTelegramBot(noFlood);
  const ann = bot.server.person();
  ann.says('hi');
  const place = placeOf(ann.dm);
  const receipt = await bot.channel.send(place, { markdown: 'https://example.org' }, 'k');
  const off = { is_disabled: true };
  assert.deepEqual(lastArguments(bot, 'sendMessage')['link_preview_options'], off);
  await bot.channel.edit(place, receipt, { markdown: 'https://example.com' });
  assert.deepEqual(lastArguments(bot, 'editMessageText')['link_preview_options'], off);
  await bot.channel.status(place, { kind: 'line', text: 'reading https://example.net' }, keptPlaceholder());
  await ann.dm.nextMessage('example.net');
  assert.deepEqual(lastArguments(bot, 'sendMessage')['link_preview_options'], off);
});

test('H2 when Telegram can not parse the formatting the same words arrive plain', async () => {
  await using bot = await startTelegramBot();
  const ann = bot.server.person();
  ann.says('hi');
  const description = 'Bad Request: can\'t parse entities: Unsupported start tag "x" at byte offset 0';
  bot.server.faults.add({ method: 'sendMessage', status: { code: 400, description } });
  await bot.channel.send(placeOf(ann.dm), { markdown: '**a** < b & c' }, 'k');
  const [sent] = ann.dm.sent();
  assert.equal(sent?.text, 'a < b & c');
  assert.equal(sent?.parseMode, undefined);
});

test('H3 an answer stays in its topic, and a topic that is gone is a refusal that says so', async () => {
  await using bot = await startTelegramBot(noFlood);
  const group = bot.server.group({ forum: true });
  const topic = group.topic('News');
  await bot.channel.send(placeOf(group, topic), { markdown: 'x' }, 'k');
  assert.equal(group.sent().at(-1)?.thread, topic);
  group.closeTopic(topic);
  const closed = await sendFailure(bot.channel.send(placeOf(group, topic), { markdown: 'x' }, 'k'));
  assert.deepEqual([closed.outcome, /closed/.test(closed.message)], ['refused', true]);
  group.deleteTopic(topic);
  const gone = await sendFailure(bot.channel.send(placeOf(group, topic), { markdown: 'x' }, 'k'));
  assert.deepEqual([gone.outcome, /topic was deleted/.test(gone.message)], ['refused', true]);
});

test('H3 an answer to a message that was deleted is sent all the same', async () => {
  await using bot = await startTelegramBot();
  const ann = bot.server.person();
  ann.says('hi');
  await bot.channel.send(placeOf(ann.dm), { markdown: 'x', replyTo: '987654' }, 'k');
  assert.equal(ann.dm.sent()[0]?.text, 'x');
});

const refusals = [
  ['blocked', /blocked the bot/],
  ['deactivated', /deactivated/],
  ['stranger', /can't initiate conversation/],
  ['kicked', /add the bot/],
  ['absent', /add the bot/],
  ['muted', /let the bot write/],
] as const;
for (const [standing, words] of refusals) {
  test(`H3 a send where the bot is ${standing} is refused for good, saying what it is`, async () => {
    await using bot = await startTelegramBot();
    const group = bot.server.group();
    group.setBot(standing);
    const error = await sendFailure(bot.channel.send(placeOf(group), { markdown: 'x' }, 'k'));
    assert.equal(error.outcome, 'refused');
    assert.match(error.message, words);
  });
}

test('A6 a send to a group that was migrated names its new id', async () => {
  await using bot = await startTelegramBot();
  const group = bot.server.group({ type: 'group' });
  const next = group.migrate();
  const error = await sendFailure(bot.channel.send(placeOf(group), { markdown: 'x' }, 'k'));
  assert.deepEqual([error.outcome, error.movedTo], ['retry', String(next.id)]);
});

test('H8 a 429 is to be tried again when Telegram says, and not earlier', async () => {
  await using bot = await startTelegramBot();
  const ann = bot.server.person();
  ann.says('hi');
  bot.server.faults.add({ method: 'sendMessage', retryAfter: 7 });
  const error = await sendFailure(bot.channel.send(placeOf(ann.dm), { markdown: 'x' }, 'k'));
  assert.deepEqual([error.outcome, error.retryAfterMs], ['retry', 7000]);
});

test('Q6 a send that was cut off is unknown, and is not repeated by the channel', async () => {
  await using bot = await startTelegramBot();
  const ann = bot.server.person();
  ann.says('hi');
  bot.server.faults.add({ method: 'sendMessage', cut: 'after' });
  const error = await sendFailure(bot.channel.send(placeOf(ann.dm), { markdown: 'x' }, 'k'));
  assert.equal(error.outcome, 'unknown');
  assert.equal(ann.dm.sent().length, 1);
  assert.equal(bot.server.calls('sendMessage').length, 1);
  bot.server.faults.add({
    method: 'sendMessage',
    status: { code: 500, description: 'Internal Server Error' },
  });
  assert.equal(
    (await sendFailure(bot.channel.send(placeOf(ann.dm), { markdown: 'x' }, 'k'))).outcome,
    'unknown',
  );
});

const gatewayAnswers = [
  [503, '{"message":"Service Unavailable"}'],
  [403, '{"ok":false,"error_code":"403","description":"Forbidden"}'],
  [200, '{}'],
  [200, '[]'],
  [200, '{"error":"busy"}'],
  [200, 'null'],
  [200, '"ok"'],
  [200, '{"ok":true}'],
] as const;
for (const [status, json] of gatewayAnswers) {
  test(`Q6 ${status} with ${json} is not Telegram's answer: nobody knows whether the part was sent`, async () => {
    await using bot = await startTelegramBot(noFlood);
    const ann = bot.server.person();
    ann.says('hi');
    const place = placeOf(ann.dm);
    const receipt = await bot.channel.send(place, { markdown: 'one' }, 'k');
    for (const method of ['sendMessage', 'editMessageText', 'deleteMessage'])
      bot.server.faults.add({ method, badGateway: { status, json } });
    const failures = await Promise.all([
      sendFailure(bot.channel.send(place, { markdown: 'x' }, 'k')),
      sendFailure(bot.channel.edit(place, receipt, { markdown: 'x' })),
      sendFailure(bot.channel.remove(place, receipt)),
    ]);
    for (const { outcome, message } of failures) {
      assert.equal(outcome, 'unknown');
      assert.match(message, /no usable answer/);
    }
  });
}

test('Q6 a send that never left is to be tried again', async () => {
  const bot = await startTelegramBot({ start: false });
  await bot.server.close();
  const error = await sendFailure(
    bot.channel.send({ channel: 'telegram', chat: '5' }, { markdown: 'x' }, 'k'),
  );
  assert.equal(error.outcome, 'retry');
});

test('H3 an edit that changes nothing is a success, one of a message that is gone is refused', async () => {
  await using bot = await startTelegramBot(noFlood);
  const ann = bot.server.person();
  ann.says('hi');
  const place = placeOf(ann.dm);
  const receipt = await bot.channel.send(
    place,
    { markdown: 'one', buttons: [{ label: 'Go', action: 'go' }] },
    'k',
  );
  await bot.channel.edit(place, receipt, { markdown: 'one', buttons: [{ label: 'Go', action: 'go' }] });
  await bot.channel.edit(place, receipt, { markdown: '*two*' });
  assert.deepEqual([ann.dm.sent()[0]?.texts, ann.dm.sent()[0]?.buttons], [['one', 'two'], []]);
  const error = await sendFailure(bot.channel.edit(place, { id: '999999' }, { markdown: 'x' }));
  assert.equal(error.outcome, 'refused');
});

test('H8 answers at once reach a strict server in order and without a 429', async () => {
  // Server and bot read one clock, which stands still while a request is on its way.
  const clock = createManualClock();
  await using bot = await startTelegramBot({ paced: true, start: false, clock, server: { clock } });
  for (const person of [bot.server.person(), bot.server.person()]) {
    person.says('hi');
    const texts = Array.from({ length: 8 }, (_, index) => `answer ${index}`);
    for (const text of texts)
      await clock.runUntil(bot.channel.send(placeOf(person.dm), { markdown: text }, text));
    assert.deepEqual(
      person.dm.sent().map(({ text }) => text),
      texts,
    );
  }
  assert.ok(bot.server.calls('sendMessage').every(({ answer }) => answer?.['ok'] === true));
});

test('Q9 a part that may not begin any more when it is its turn is not sent', async () => {
  await using bot = await startTelegramBot(noFlood);
  const ann = bot.server.person();
  ann.says('hi');
  const refused = async () => {
    throw new Error('lost');
  };
  await assert.rejects(bot.channel.send(placeOf(ann.dm), { markdown: 'late' }, 'k', refused));
  assert.deepEqual(bot.server.calls('sendMessage'), []);
});

test('H2 a text that is too long for one message is cut into parts that Telegram takes', async () => {
  await using bot = await startTelegramBot(noFlood);
  const ann = bot.server.person();
  ann.says('hi');
  const parts = await bot.channel.split(`# Title\n\n${'**word** & <more> '.repeat(800)}`);
  assert.ok(parts.length > 1);
  for (const markdown of parts) await bot.channel.send(placeOf(ann.dm), { markdown }, 'k');
  assert.ok(ann.dm.sent().every(({ parseMode }) => parseMode === 'HTML'));
});

test('A1 a chat type that is not known is looked up, and unknown where Telegram does not tell', async () => {
  await using bot = await startTelegramBot();
  const group = bot.server.group({ title: 'Friends' });
  const told = { chatType: 'group', external: false, name: 'Friends' };
  equalData(await bot.channel.lookUpChat(placeOf(group)), told);
  const ann = bot.server.person({ name: 'Ann' });
  const direct = { chatType: 'private', external: false, person: `telegram:${ann.id}` };
  equalData(await bot.channel.lookUpChat(placeOf(ann.dm)), direct);
  assert.equal((await bot.channel.lookUpChat({ channel: 'telegram', chat: '-7' })).chatType, 'unknown');
});

test('A11 the link to a direct message carries the name of a skill and nothing else', async () => {
  await using bot = await startTelegramBot();
  const link = (skill?: string): string | undefined => bot.channel.directLink(skill);
  assert.equal(link(), 'https://t.me/test_bot');
  assert.equal(link('code-review'), 'https://t.me/test_bot?start=skill_code-review');
  assert.equal(link('über'), 'https://t.me/test_bot');
  assert.equal(link('x'.repeat(59)), 'https://t.me/test_bot');
});

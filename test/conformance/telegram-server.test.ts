import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Telegram, TelegramError } from 'telegraf';
import { startTelegramServer, type TelegramServer } from '../servers/telegram/start-telegram-server.ts';

/** An independent client speaks to the server: what it understands, other clients understand too. */
const open: TelegramServer[] = [];
after(() => Promise.all(open.map((server) => server.close())));

async function start(options = {}): Promise<{ server: TelegramServer; client: Telegram }> {
  const server = await startTelegramServer(options);
  open.push(server);
  return { server, client: new Telegram(server.token, { apiRoot: server.url }) };
}

async function refused(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => assert.fail('it was not refused'),
    (error: unknown) => {
      assert.ok(error instanceof TelegramError);
      return `${error.code} ${error.description}`;
    },
  );
}

test('H9 another client gets the bot, its updates and what it sends from the Bot API server', async () => {
  const { server, client } = await start();
  assert.equal((await client.getMe()).username, 'test_bot');
  const ann = server.person({ name: 'Ann Lee' });
  ann.says('hello 👋 @test_bot');
  const [update] = await client.getUpdates(1, 100, 0, undefined);
  assert.ok(update && 'message' in update && 'text' in update.message);
  assert.equal(update.message.text, 'hello 👋 @test_bot');
  assert.deepEqual(update.message.entities, [{ type: 'mention', offset: 9, length: 9 }]);
  const sent = await client.sendMessage(ann.id, '<b>x &lt; y</b>', { parse_mode: 'HTML' });
  assert.equal(sent.text, 'x < y');
  assert.deepEqual(sent.entities, [{ type: 'bold', offset: 0, length: 5 }]);
  assert.equal(ann.dm.sent()[0]?.text, 'x < y');
});

test('H9 the Bot API server refuses what the platform refuses, with its words', async () => {
  const { server, client } = await start({ flood: false });
  const ann = server.person();
  const strange = "Forbidden: bot can't initiate conversation with a user";
  assert.equal(await refused(client.sendMessage(ann.id, 'hi')), `403 ${strange}`);
  ann.says('hi');
  const send = (text: string, extra?: Parameters<Telegram['sendMessage']>[2]) =>
    refused(client.sendMessage(ann.id, text, extra));
  assert.equal(
    await send('<i>x', { parse_mode: 'HTML' }),
    '400 Bad Request: can\'t parse entities: Can\'t find end tag corresponding to start tag "i"',
  );
  assert.equal(await send(' \n'), '400 Bad Request: message text is empty');
  assert.equal(await send('x'.repeat(4097)), '400 Bad Request: message is too long');
  assert.equal(
    await send('x', { reply_parameters: { message_id: 77 } }),
    '400 Bad Request: message to be replied not found',
  );
  const button = { text: 'x', callback_data: 'é'.repeat(33) };
  assert.equal(
    await send('x', { reply_markup: { inline_keyboard: [[button]] } }),
    '400 Bad Request: BUTTON_DATA_INVALID',
  );
  assert.equal(await send('x', { message_thread_id: 1 }), '400 Bad Request: message thread not found');
  assert.equal(
    await refused(client.setMyCommands([{ command: 'my-skill', description: 'x' }])),
    '400 Bad Request: BOT_COMMAND_INVALID',
  );
  assert.equal(await refused(client.sendMessage(1, 'x')), '400 Bad Request: chat not found');
  ann.blocks();
  assert.equal(await send('x'), '403 Forbidden: bot was blocked by the user');
  assert.equal(
    await refused(client.callApi('sendMesage' as 'sendMessage', { chat_id: 1, text: 'x' })),
    '404 Not Found: method not found',
  );
  const stranger = new Telegram('123:wrong', { apiRoot: server.url });
  assert.equal(await refused(stranger.getMe()), '401 Unauthorized');
});

test('H9 a longest text of 4096 UTF-16 units passes, formatting not counted', async () => {
  const { server, client } = await start();
  const ann = server.person();
  ann.says('hi');
  const sent = await client.sendMessage(ann.id, `<b>${'👍'.repeat(2048)}</b>`, { parse_mode: 'HTML' });
  assert.equal(sent.text.length, 4096);
});

test('H9 updates are kept until an offset passes them, and are given again until then', async () => {
  const { server, client } = await start();
  const ann = server.person();
  for (const text of ['a', 'b', 'c']) ann.says(text);
  const first = await client.getUpdates(0, 2, 0, undefined);
  assert.equal(first.length, 2);
  const again = await client.getUpdates(0, 100, 1, undefined);
  assert.equal(again[0]?.update_id, first[0]?.update_id);
  const rest = await client.getUpdates(0, 100, (first[1]?.update_id ?? 0) + 1, undefined);
  assert.equal(rest.length, 1);
  assert.equal(server.queue.waiting().length, 1);
});

test('H9 only one may poll: the older poll is told so, and none may while a webhook is set', async () => {
  const { server, client } = await start();
  const older = refused(client.getUpdates(20, 100, 0, undefined));
  await server.until('the first poll', () => server.calls('getUpdates').length === 1);
  const newer = client.getUpdates(20, 100, 5, undefined);
  assert.match(await older, /^409 Conflict: terminated by other getUpdates request/);
  server.person().says('x');
  assert.equal((await newer).length, 1);
  await client.setWebhook('https://example.org/hook');
  assert.match(await refused(client.getUpdates(0, 1, 0, undefined)), /^409 Conflict: can't use getUpdates/);
});

test('H9 a flood is refused with retry_after, in a chat and in a group', async () => {
  const { server, client } = await start();
  const ann = server.person();
  ann.says('hi');
  for (let index = 0; index < 5; index++) await client.sendMessage(ann.id, String(index));
  assert.match(await refused(client.sendMessage(ann.id, 'over')), /^429 Too Many Requests: retry after 1$/);
  const group = server.group();
  await client.sendMessage(group.id, 'another chat goes on');
});

test('H9 privacy mode hides plain mentions, and shows commands for the bot and replies to it', async () => {
  const { server, client } = await start();
  const ann = server.person();
  const group = server.group();
  const { message_id: mine } = await client.sendMessage(group.id, 'mine');
  ann.says('@test_bot hi', { in: group });
  ann.says('/help@other_bot', { in: group });
  ann.says('/help@Test_Bot', { in: group });
  ann.says('/help', { in: group });
  ann.says('yes', { in: group, replyTo: mine });
  const updates = await client.getUpdates(0, 100, 0, undefined);
  const texts = updates.map((u) => ('message' in u && 'text' in u.message ? u.message.text : ''));
  assert.deepEqual(texts, ['/help@Test_Bot', '/help', 'yes']);
});

test('H9 a migrated group answers with its new id, and tells it from both sides', async () => {
  const { server, client } = await start();
  const group = server.group({ type: 'group' });
  const next = group.migrate();
  const error: unknown = await client.sendMessage(group.id, 'x').catch((e: unknown) => e);
  assert.ok(error instanceof TelegramError);
  assert.equal(error.description, 'Bad Request: group chat was upgraded to a supergroup chat');
  assert.deepEqual(error.parameters, { migrate_to_chat_id: next.id });
  const updates = await client.getUpdates(0, 100, 0, undefined);
  assert.equal(updates.length, 2);
});

test('H9 an edit that changes nothing is refused, one that does is kept with its history', async () => {
  const { server, client } = await start();
  const ann = server.person();
  ann.says('hi');
  const { message_id: id } = await client.sendMessage(ann.id, 'one');
  assert.match(
    await refused(client.editMessageText(ann.id, id, undefined, 'one')),
    /^400 Bad Request: message is not modified: specified new message content/,
  );
  await client.editMessageText(ann.id, id, undefined, 'two');
  assert.deepEqual(ann.dm.sent()[0]?.texts, ['one', 'two']);
  await client.deleteMessage(ann.id, id);
  assert.match(
    await refused(client.editMessageText(ann.id, id, undefined, 'x')),
    /message to edit not found/,
  );
});

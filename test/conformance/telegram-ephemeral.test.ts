import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Telegram, TelegramError } from 'telegraf';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';

type Call = Parameters<Telegram['callApi']>;

/** A server whose clock the test sets, with a group, Ann and an ephemeral `/help` in its menu. */
async function stage() {
  const time = { now: Date.UTC(2026, 10, 29) };
  const clock = { now: () => time.now, sleep: async () => undefined };
  const server = await startTelegramServer({ flood: false, clock });
  const client = new Telegram(server.token, { apiRoot: server.url });
  const call = (method: string, args: object) => client.callApi(method as Call[0], args);
  const outcome = (method: string, args: object): Promise<string> =>
    call(method, args).then(
      () => 'ok',
      (error: unknown) => (error instanceof TelegramError ? error.description : assert.fail(String(error))),
    );
  const help = { command: 'help', description: 'What I can do', is_ephemeral: true };
  await call('setMyCommands', { commands: [help], scope: { type: 'all_group_chats' } });
  const ann = server.person({ name: 'Ann' });
  const group = server.group();
  const to = (text: string, more: object = {}, reply?: number) => ({
    chat_id: group.id,
    text,
    ephemeral_message_parameters: { receiver_user_id: ann.id, ...more },
    ...(reply === undefined ? {} : { reply_parameters: { ephemeral_message_id: reply } }),
  });
  return { time, server, call, outcome, ann, group, to, [Symbol.asyncDispose]: () => server.close() };
}

const tooOld = 'Bad Request: query is too old and response timeout expired or query ID is invalid';

test('H9 U16 an ephemeral command reaches the bot alone, and its answer the sender alone', async () => {
  await using at = await stage();
  const { server, ann, group } = at;
  const ben = server.person({ name: 'Ben' });
  const said = ann.whispers('/help', { in: group });
  const [update] = (await at.call('getUpdates', { timeout: 0 })) as unknown as [{ message: object }];
  const { text, message_id, ephemeral_message_id } = update.message as Record<string, unknown>;
  assert.deepEqual(
    { text, message_id, ephemeral_message_id },
    { text: '/help', message_id: 0, ephemeral_message_id: said },
  );
  const sent = (await at.call('sendMessage', at.to('Hello', {}, said))) as unknown as Record<string, unknown>;
  assert.equal(sent['message_id'], 0);
  assert.deepEqual(group.sent(), [], 'nobody else sees it');
  assert.deepEqual(group.shownTo(ben), []);
  assert.deepEqual(
    group.shownTo(ann).map((one) => one.text),
    ['Hello'],
  );
  const which = {
    chat_id: group.id,
    receiver_user_id: ann.id,
    ephemeral_message_id: sent['ephemeral_message_id'],
  };
  assert.equal(await at.outcome('editEphemeralMessageText', { ...which, text: 'Hi' }), 'ok');
  assert.equal(group.shownTo(ann)[0]?.text, 'Hi');
  assert.equal(
    await at.outcome('editEphemeralMessageText', { ...which, text: 'x'.repeat(1025) }),
    'Bad Request: MEDIA_CAPTION_TOO_LONG',
  );
  assert.match(await at.outcome('deleteMessage', { chat_id: group.id, message_id: 0 }), /not found/);
  assert.equal(await at.outcome('deleteEphemeralMessage', which), 'ok');
  assert.match(await at.outcome('deleteEphemeralMessage', which), /message to delete not found/);
  assert.throws(() => ann.whispers('hello', { in: group }), /no client sends/);
});

test('H9 U16 a bot that is no administrator has 15 s after a command or a press, an administrator any time', async () => {
  await using at = await stage();
  const { ann, group, time } = at;
  assert.equal(await at.outcome('sendMessage', at.to('out of the blue')), 'Bad Request: BOT_NOT_ADMIN');
  const said = ann.whispers('/help', { in: group });
  time.now += 15_000;
  assert.equal(await at.outcome('sendMessage', at.to('just in time', {}, said)), 'ok');
  time.now += 1;
  assert.equal(
    await at.outcome('sendMessage', at.to('late', {}, said)),
    'Bad Request: message to be replied not found',
  );
  const keyboard = { inline_keyboard: [[{ text: 'Go', callback_data: 'go' }]] };
  await at.call('sendMessage', { chat_id: group.id, text: 'Press', reply_markup: keyboard });
  const shown = await group.nextMessage('Press');
  const pressed = async () => {
    ann.presses(shown.id, 'Go', group);
    const updates = (await at.call('getUpdates', { timeout: 0 })) as unknown as {
      callback_query?: { id: string };
    }[];
    return { callback_query_id: updates.at(-1)?.callback_query?.id };
  };
  const press = await pressed();
  assert.equal(await at.outcome('sendMessage', at.to('pressed', press)), 'ok');
  const other = {
    ...at.to('not Ben’s'),
    ephemeral_message_parameters: { receiver_user_id: at.server.person().id, ...press },
  };
  assert.equal(await at.outcome('sendMessage', other), tooOld);
  time.now += 15_001;
  assert.equal(await at.outcome('sendMessage', at.to('pressed long ago', press)), tooOld);
  group.setBot('administrator');
  assert.equal(await at.outcome('sendMessage', at.to('out of the blue')), 'ok');
});

test('H9 U16 the Bot API server refuses private chats, bots, albums and misspelt fields, and offline people see nothing', async () => {
  await using at = await stage();
  const { ann, group, server } = at;
  group.setBot('administrator');
  ann.says('hi');
  assert.equal(
    await at.outcome('sendMessage', { ...at.to('x'), chat_id: ann.id }),
    'Bad Request: BOT_NOT_ADMIN',
  );
  const bot = { receiver_user_id: server.person({ isBot: true }).id };
  assert.equal(
    await at.outcome('sendMessage', { ...at.to('x'), ephemeral_message_parameters: bot }),
    'Bad Request: user not found',
  );
  assert.match(await at.outcome('sendMessage', at.to('x', { receiver: 1 })), /unknown field "receiver"/);
  assert.match(
    await at.outcome('sendMediaGroup', { ...at.to('x'), text: undefined, media: [] }),
    /unknown parameter "ephemeral_message_parameters"/,
  );
  ann.goesOffline();
  assert.equal(await at.outcome('sendMessage', at.to('you are away')), 'ok');
  assert.deepEqual(group.shownTo(ann), [], 'the platform promises nothing to people who are offline');
});

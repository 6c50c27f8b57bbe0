import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { webApi } from '@slack/bolt';
import { Bot } from 'grammy';
import { watchLog } from '../servers/slack/connected-slack.ts';
import { startSlackServer, type SlackServerOptions } from '../servers/slack/start-slack-server.ts';
import { startTelegramServer } from '../servers/telegram/start-telegram-server.ts';

async function openSlack(t: TestContext, options: SlackServerOptions = {}) {
  const slack = await startSlackServer(options);
  t.after(() => slack.close());
  const client = new webApi.WebClient(slack.tokens.bot, {
    slackApiUrl: slack.url,
    retryConfig: { retries: 0 },
    logger: { ...watchLog().log, setLevel() {}, setName() {}, getLevel: () => webApi.LogLevel.ERROR },
  });
  const anna = slack.workspace.addUser('anna');
  return { slack, client, anna, room: slack.workspace.addRoom('channel', { members: [anna.id] }) };
}

const button = (label: string, more: object = {}) => ({
  text: { type: 'plain_text', text: label },
  value: `value of ${label}`,
  ...more,
});

const thumbs = (more: object = {}) => ({
  type: 'context_actions',
  elements: [
    {
      type: 'feedback_buttons',
      action_id: 'thumbs',
      positive_button: button('Good'),
      negative_button: button('Bad'),
      ...more,
    },
  ],
});

test('U17 H9 Slack shows two thumbs below a message, and refuses what is no such block in its words', async (t) => {
  const { client, room } = await openSlack(t);
  const said = async (block: object): Promise<string> => {
    const call = client.apiCall('chat.postMessage', { channel: room.id, text: 'x', blocks: [block] });
    return call.then(
      () => 'ok',
      (error: unknown) =>
        error instanceof webApi.WebAPIPlatformError
          ? `${error.data.error}: ${String(error.data.response_metadata?.messages?.[0])}`
          : String(error),
    );
  };
  assert.equal(await said(thumbs()), 'ok');
  assert.match(
    await said(thumbs({ negative_button: undefined })),
    /^invalid_blocks: .*missing required field: negative/,
  );
  assert.match(await said(thumbs({ positive_button: button('x'.repeat(76)) })), /must be less than 76/);
  assert.match(
    await said(thumbs({ positive_button: button('Good', { value: '' }) })),
    /more than 0 characters/,
  );
  const mrkdwn = { text: { type: 'mrkdwn', text: 'Good' }, value: 'x' };
  assert.match(await said(thumbs({ positive_button: mrkdwn })), /invalid text type/);
  const long = button('Good', { accessibility_label: 'x'.repeat(76) });
  assert.match(await said(thumbs({ positive_button: long })), /accessibility_label/);
  assert.match(await said({ type: 'context_actions', elements: [] }), /no less than 1 item/);
  const plain = { type: 'button', ...button('Good') };
  assert.match(await said({ type: 'context_actions', elements: [plain] }), /unsupported type: button/);
  const one = thumbs().elements[0];
  assert.match(await said({ type: 'context_actions', elements: Array(6).fill(one) }), /no more than 5 items/);
});

test('U17 H9 Slack tells of reactions to an app with the event and the scope, its own among them', async (t) => {
  const { slack, client, anna, room } = await openSlack(t);
  slack.knobs.held = true;
  const { ts = '' } = await client.chat.postMessage({ channel: room.id, text: 'Four' });
  const heard = slack.people.react(anna, { channel: room.id, ts }, '-1');
  assert.throws(() => void slack.people.react(anna, { channel: room.id, ts }, '-1'), /can't be added again/);
  assert.throws(
    () => void slack.people.react(anna, { channel: room.id, ts }, '+1', 'removed'),
    /can't be removed/,
  );
  await client.reactions.add({ channel: room.id, timestamp: ts, name: 'eyes' });
  const told: unknown[] = [];
  slack.release((waiting) => {
    told.push(
      ...waiting.flatMap(({ event }) => (String(event['type']).startsWith('reaction') ? [event] : [])),
    );
    return [];
  });
  void heard;
  const common = { type: 'reaction_added', item_user: slack.workspace.bot.user };
  const item = { type: 'message', channel: room.id, ts };
  assert.deepEqual(
    told.map((event) => ({ ...(event as object), event_ts: 0 })),
    [
      { ...common, user: anna.id, reaction: '-1', item, event_ts: 0 },
      { ...common, user: slack.workspace.bot.user, reaction: 'eyes', item, event_ts: 0 },
    ],
  );
});

test('U17 H9 without the event, without the scope and outside of its rooms an app hears of no reaction', async (t) => {
  for (const options of [
    { events: ['message.channels'] },
    { scopes: ['chat:write', 'channels:history'] },
    {},
  ]) {
    const { slack, anna } = await openSlack(t, options);
    const isIn = Object.keys(options).length > 0;
    const room = slack.workspace.addRoom('channel', { members: [anna.id], bot: isIn });
    const { channel, ts } = slack.people.post(anna, room, 'hello');
    slack.knobs.held = false;
    assert.deepEqual(await slack.people.react(anna, { channel, ts }, '+1'), []);
  }
});

test('U17 H9 Telegram tells of reactions a bot that asks for them, in groups only an administrator', async (t) => {
  const server = await startTelegramServer();
  t.after(() => server.close());
  const bot = new Bot(server.token, { client: { apiRoot: server.url } });
  const ann = server.person({ name: 'Ann' });
  const group = server.group();
  ann.says('hi');
  const { message_id: direct } = await bot.api.sendMessage(ann.id, 'Four');
  const { message_id: shown } = await bot.api.sendMessage(group.id, 'Four');
  assert.equal(ann.reacts(direct, ['👎']), false, 'nobody asked');
  await bot.api.getUpdates({ offset: -1, allowed_updates: ['message', 'message_reaction'] });
  assert.equal(ann.reacts(direct, ['👍']), true);
  assert.equal(ann.reacts(shown, ['👍'], group), false, 'the bot is an ordinary member');
  group.setBot('administrator');
  assert.equal(ann.reacts(shown, ['👍', '🔥'], group), true);
  assert.equal(ann.reacts(shown, [], group), true);
  assert.equal(ann.reacts(shown, ['👎'], group, 'group'), true);
  assert.throws(() => ann.reacts(404, ['👍']), /no message 404/);
  const updates = await bot.api.getUpdates({ offset: 0 });
  const reactions = updates.flatMap(({ message_reaction: one }) => (one === undefined ? [] : [one]));
  const emoji = (one: string) => ({ type: 'emoji', emoji: one });
  assert.deepEqual(
    reactions.map(({ chat, message_id, user, old_reaction, new_reaction }) => [
      ...[chat.id, message_id, user?.id],
      ...[old_reaction, new_reaction],
    ]),
    [
      [ann.id, direct, ann.id, [emoji('👎')], [emoji('👍')]],
      // What was there before the bot could hear of it is there.
      [group.id, shown, ann.id, [emoji('👍')], [emoji('👍'), emoji('🔥')]],
      [group.id, shown, ann.id, [emoji('👍'), emoji('🔥')], []],
      [group.id, shown, undefined, [], [emoji('👎')]],
    ],
  );
});

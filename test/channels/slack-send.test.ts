import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SendError } from '../../src/core/errors.ts';
import { sendFailure } from '../support/send-failure.ts';
import { createManualClock } from '../support/manual-clock.ts';
import {
  connectSlackChannel,
  createSlackChannel,
  slackOptions,
  type ConnectedSlack,
} from '../servers/slack/connected-slack.ts';
import { checkBlocks } from '../servers/slack/block-kit.ts';
import { startSlackServer } from '../servers/slack/start-slack-server.ts';
import { equalData } from '../support/equal-data.ts';

/** A room with the bot in it, and the conversation of its main line. */
function roomIn({ slack }: ConnectedSlack, kind: 'channel' | 'group' = 'channel') {
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom(kind, { members: [anna.id] });
  return { anna, room, conversation: { channel: 'slack', chat: room.id } };
}

test('H4 an answer goes into its thread as a markdown block with its text, key and no previews', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const { anna, room, conversation } = roomIn(connected);
  const root = slack.people.mention(anna, room, 'hi');
  const receipt = await channel.send(
    { ...conversation, thread: root.ts },
    { markdown: '**yes** & <!channel>', replyTo: root.ts },
    'item#0',
  );
  const message = await slack.posted();
  assert.equal(message.ts, receipt.id);
  assert.equal(message.threadTs, root.ts);
  assert.deepEqual(message.metadata, { event_type: 'skillet_part', event_payload: { key: 'item#0' } });
  assert.equal(message.blocks?.[0]?.['type'], 'markdown');
  assert.match(message.text, /^\*yes\* &amp; &lt;/);
  assert.equal(message.sentWith?.['unfurl_links'], 'false');
  assert.equal(message.sentWith?.['unfurl_media'], 'false');
});

test('H2 text cut by split fits one Slack message each, blocks and all', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const { room, conversation } = roomIn(connected);
  const markdown = Array.from({ length: 400 }, (_, index) => `- item ${index} & **bold** \`code\``).join(
    '\n',
  );
  const pieces = await channel.split(markdown);
  assert.ok(pieces.length > 1);
  for (const [index, piece] of pieces.entries()) {
    await channel.send(conversation, { markdown: piece }, `k#${index}`);
  }
  assert.equal(room.messages.length, pieces.length);
  for (const { blocks } of room.messages) assert.deepEqual(checkBlocks(blocks), []);
  assert.equal(slack.changes.all().length, pieces.length);
});

test('H2 an answer of 20,000 characters is two messages, whole in their blocks and short in their text', async (t) => {
  const connected = await connectSlackChannel(t);
  const { room, conversation } = roomIn(connected);
  const pieces = await connected.channel.split('Words & **bold** ones. '.repeat(870));
  for (const [index, piece] of pieces.entries())
    await connected.channel.send(conversation, { markdown: piece }, `k#${index}`);
  assert.equal(room.messages.length, 2);
  for (const { text, blocks } of room.messages) {
    assert.deepEqual(checkBlocks(blocks), []);
    assert.ok(text.length <= 4000);
  }
});

test('H2 when Slack refuses the blocks the same words go out plainly, with the buttons', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const { conversation } = roomIn(connected);
  for (const error of ['invalid_blocks', 'msg_blocks_too_long']) {
    slack.faults.next('chat.postMessage', { kind: 'error', error });
    await channel.send(conversation, { markdown: `**plain** ${error}` }, error);
    const message = await slack.posted(({ text }) => text.includes(error));
    assert.equal(message.blocks, undefined);
    assert.equal(message.text, `*plain* ${error}`);
  }
  slack.faults.next('chat.postMessage', { kind: 'error', error: 'invalid_blocks' });
  const buttons = [{ label: 'Yes', action: 'yes' }];
  await channel.send(conversation, { markdown: 'May I?', buttons }, 'asked');
  const asked = await slack.posted(({ text }) => text === 'May I?');
  assert.deepEqual(
    asked.blocks?.map(({ type }) => type),
    ['section', 'actions'],
  );
});

test('H4 what Slack refuses for good is refused with a sentence, limits are tried again, the rest is unknown', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const { room, conversation } = roomIn(connected);
  const failing = (chat = conversation) => sendFailure(channel.send(chat, { markdown: 'x' }, 'k'));
  assert.equal((await failing({ channel: 'slack', chat: 'C0NOWHERE' })).outcome, 'refused');
  room.archived = true;
  assert.equal((await failing()).outcome, 'refused');
  room.archived = false;

  for (const fault of [
    { kind: 'cut', when: 'before' },
    { kind: 'status', status: 503 },
  ] as const) {
    slack.faults.next('chat.postMessage', fault);
    assert.equal((await failing()).outcome, 'unknown');
  }
  slack.faults.next('chat.postMessage', { kind: 'ratelimited', retryAfter: 7 });
  const limited = await failing();
  assert.deepEqual([limited.outcome, limited.retryAfterMs], ['retry', 7000]);
  // Nothing was tried a second time behind the outbox's back.
  assert.equal(room.messages.length, 0);
  assert.equal(slack.calls.all().filter(({ method }) => method === 'chat.postMessage').length, 5);
});

test('Q6 a message whose sending was cut off is found by its key, in the channel and in a long thread', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const { anna, room, conversation } = roomIn(connected);
  const root = slack.people.post(anna, room, 'root');
  for (let reply = 0; reply < 450; reply++) slack.people.post(anna, room, 'more', { thread: root.ts });
  for (const where of [conversation, { ...conversation, thread: root.ts }]) {
    slack.faults.next('chat.postMessage', { kind: 'cut', when: 'after' });
    const key = `cut ${'thread' in where}`;
    await assert.rejects(
      channel.send(where, { markdown: 'once' }, key),
      (error) => error instanceof SendError && error.outcome === 'unknown',
    );
    const { ts } = await slack.posted(({ metadata }) => metadata?.event_payload['key'] === key);
    assert.deepEqual(await channel.find(where, key), { id: ts });
    assert.equal(await channel.find(where, 'another key'), undefined);
  }
  slack.faults.next('conversations.history', { kind: 'ratelimited', retryAfter: 3 });
  await assert.rejects(
    channel.find(conversation, 'k'),
    (error) => error instanceof SendError && error.outcome === 'retry' && error.retryAfterMs === 3000,
  );
  slack.faults.next('conversations.history', { kind: 'error', error: 'missing_scope' });
  assert.equal(await channel.find(conversation, 'k'), undefined);
});

test('H4 a message is changed in place, with and without its buttons', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const { room, conversation } = roomIn(connected);
  const buttons = [{ label: 'Yes', action: 'yes' }];
  const receipt = await channel.send(conversation, { markdown: 'May I?', buttons }, 'k');
  await channel.edit(conversation, receipt, { markdown: '**Approved**' });
  const [message] = room.messages;
  assert.equal(message?.text, '*Approved*');
  assert.deepEqual(
    message?.blocks?.map(({ type }) => type),
    ['markdown'],
  );
  assert.equal(message?.metadata?.event_payload['key'], 'k');
  slack.faults.next('chat.update', { kind: 'error', error: 'invalid_blocks' });
  await channel.edit(conversation, receipt, { markdown: 'again' });
  assert.deepEqual([message?.text, message?.blocks], ['again', undefined]);
  slack.faults.next('chat.update', { kind: 'cut', when: 'after' });
  await assert.rejects(
    channel.edit(conversation, receipt, { markdown: 'y' }),
    (error) => error instanceof SendError && error.outcome === 'retry',
  );
  await assert.rejects(
    channel.edit(conversation, { id: '1.000001' }, { markdown: 'y' }),
    (error) => error instanceof SendError && error.outcome === 'refused',
  );
});

test('Q9 a part begins when the pace lets it go, and where it may not begin any more it is not sent', async (t) => {
  const clock = createManualClock(Date.now());
  const connected = await connectSlackChannel(t, { channel: { paced: true, clock } });
  const { channel } = connected;
  const { room, conversation } = roomIn(connected);
  await channel.send(conversation, { markdown: 'first' }, 'k1');
  const begun: number[] = [];
  const started = clock.now();
  const refused = async () => {
    begun.push(clock.now() - started);
    throw new Error('lost');
  };
  const late = assert.rejects(channel.send(conversation, { markdown: 'late' }, 'k2', refused), /lost/);
  await clock.advance(999);
  assert.deepEqual(begun, []);
  await clock.advance(1);
  await late;
  assert.deepEqual(begun, [1_000]);
  assert.equal(room.messages.length, 1);
});

test('H8 one message a second a channel in the order of asking, other channels side by side', async (t) => {
  const clock = createManualClock(Date.now());
  const connected = await connectSlackChannel(t, { channel: { paced: true, clock } });
  const { slack, channel } = connected;
  const { room, conversation } = roomIn(connected);
  const other = roomIn(connected);
  const started = clock.now();
  const sent = Promise.all(
    [0, 1, 2, 3].map((number) => channel.send(conversation, { markdown: `m${number}` }, `k${number}`)),
  );
  await channel.send(other.conversation, { markdown: 'elsewhere' }, 'k');
  assert.equal(clock.now(), started);
  await slack.posted(({ text }) => text === 'm0');
  assert.equal(room.messages.length, 1);
  for (const number of [1, 2, 3]) {
    await clock.advance(999);
    assert.equal(room.messages.length, number);
    await clock.advance(1);
    await slack.posted(({ text }) => text === `m${number}`);
  }
  await sent;
  assert.deepEqual(
    room.messages.map(({ text }) => text),
    ['m0', 'm1', 'm2', 'm3'],
  );
});

test('H8 a limit told by Slack holds the channel for that long', async (t) => {
  const clock = createManualClock(Date.now());
  const connected = await connectSlackChannel(t, { channel: { paced: true, clock } });
  const { slack, channel } = connected;
  const { room, conversation } = roomIn(connected);
  slack.faults.next('chat.postMessage', { kind: 'ratelimited', retryAfter: 30 });
  await assert.rejects(channel.send(conversation, { markdown: 'x' }, 'k'));
  const again = channel.send(conversation, { markdown: 'x' }, 'k');
  await clock.advance(29_000);
  assert.equal(room.messages.length, 0);
  await clock.advance(1000);
  await again;
  assert.equal(room.messages.length, 1);
});

test('Q2 a chat type is asked for once an hour, and what cannot be learned is unknown', async (t) => {
  const clock = createManualClock(Date.now());
  const connected = await connectSlackChannel(t, { channel: { clock } });
  const { slack, channel } = connected;
  const asked = () => slack.calls.all().filter(({ method }) => method === 'conversations.info').length;
  const anna = slack.workspace.addUser('anna');
  const rooms = {
    private: slack.workspace.dmWith(anna.id),
    group: slack.workspace.addRoom('group'),
    channel: slack.workspace.addRoom('channel', { external: true }),
  };
  for (const [chatType, { id, external, name }] of Object.entries(rooms)) {
    const person = chatType === 'private' ? `slack:${anna.id}` : undefined;
    const told = { chatType, external, person, name: name === '' ? undefined : name };
    equalData(await channel.lookUpChat({ channel: 'slack', chat: id }), told);
    await channel.lookUpChat({ channel: 'slack', chat: id, thread: '1.1' });
  }
  assert.equal(asked(), 3);
  await clock.advance(3_600_001);
  await channel.lookUpChat({ channel: 'slack', chat: rooms.group.id });
  assert.equal(asked(), 4);
  assert.deepEqual(await channel.lookUpChat({ channel: 'slack', chat: 'C0NOWHERE' }), {
    chatType: 'unknown',
    external: true,
  });
});

test('A11 the link to a direct message opens the app in this workspace', async (t) => {
  const { slack, channel } = await connectSlackChannel(t);
  const { appId } = slack.workspace.bot;
  assert.equal(channel.directLink('gmail'), `https://slack.com/app_redirect?app=${appId}&team=T0HOME`);
});

test('A11 without the app’s id the link names the bot’s user', async (t) => {
  const { slack, channel } = await connectSlackChannel(t, { server: { scopes: ['chat:write'] } });
  assert.equal(channel.directLink(), `slack://user?team=T0HOME&id=${slack.workspace.bot.user}`);
});

test('I1 Slack has no menus to set', async (t) => {
  const { channel } = await connectSlackChannel(t);
  const entry = { name: 'dice', description: 'Throws dice' };
  assert.deepEqual(await channel.setMenus({ private: [entry], group: [entry] }), []);
});

test('Q6 Q2 what is sent or asked before Slack was reached waits for that, and is no failed try', async (t) => {
  const slack = await startSlackServer();
  const channel = createSlackChannel({ ...slackOptions(slack), paced: true });
  t.after(async () => {
    await channel.stop();
    await slack.close();
  });
  const room = slack.workspace.addRoom('group');
  const conversation = { channel: 'slack', chat: room.id };
  const early = [
    channel.send(conversation, { markdown: 'left from before' }, 'k'),
    channel.lookUpChat(conversation),
    channel.find(conversation, 'other'),
  ] as const;
  await channel.start(async () => undefined);
  equalData(await early[1], { chatType: 'group', external: false, name: room.name });
  assert.equal(await early[2], undefined);
  assert.deepEqual(await early[0], { id: room.messages[0]?.ts });
});

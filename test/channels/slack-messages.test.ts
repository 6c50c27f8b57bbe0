import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Conversation } from '../../src/core/conversation.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { toFilled } from '../../src/channels/slack/form-view.ts';
import { createThreadPartners } from '../../src/replies/threads.ts';
import { openStore } from '../../src/store/open-store.ts';
import { connectSlackChannel } from '../servers/slack/connected-slack.ts';
import { equalData } from '../support/equal-data.ts';
import { meaningOf } from '../support/slack-payloads.ts';

test('H4 a direct message becomes a private, addressed message without a thread', async (t) => {
  const { slack, message } = await connectSlackChannel(t);
  const anna = slack.workspace.addUser('anna');
  const said = slack.people.dm(anna, 'a &lt;b&gt; &amp;amp; <https://x.org|x.org> <#C1|general>');
  const heard = await message();
  assert.equal(heard.id, `slack:T0HOME:${said.channel}:${said.ts}`);
  equalData(heard.conversation, { channel: 'slack', chat: said.channel });
  assert.equal(heard.chatType, 'private');
  assert.equal(heard.addressed, true);
  assert.equal(heard.text, 'a <b> &amp; https://x.org #general');
  equalData(heard.sender, { id: `slack:${anna.id}`, name: 'anna', kind: 'person' });
  assert.equal(heard.platformId, said.ts);
  assert.ok(Math.abs(heard.sentAt - Date.now()) < 60_000);
  assert.equal(
    (await said.delivered).every(({ acked }) => acked),
    true,
  );
});

test('H4 a thread in a direct message is a conversation of its own', async (t) => {
  const { slack, message } = await connectSlackChannel(t);
  const anna = slack.workspace.addUser('anna');
  const root = slack.people.dm(anna, 'root');
  slack.people.dm(anna, 'reply', { thread: root.ts });
  const reply = await message(({ text }) => text === 'reply');
  assert.deepEqual(reply.conversation, { channel: 'slack', chat: root.channel, thread: root.ts });
});

test('A1 im is private, mpim and private channels are groups, public channels are channels', async (t) => {
  const { slack, message } = await connectSlackChannel(t);
  const anna = slack.workspace.addUser('anna');
  const expected = { im: 'private', mpim: 'group', group: 'group', channel: 'channel' } as const;
  for (const kind of ['im', 'mpim', 'group', 'channel'] as const) {
    const room =
      kind === 'im'
        ? slack.workspace.dmWith(anna.id)
        : // The name says the opposite on purpose: it must not be looked at.
          slack.workspace.addRoom(kind, { members: [anna.id], name: 'directmessage' });
    slack.people.post(anna, room, `in ${kind}`);
    const heard = await message(({ text }) => text === `in ${kind}`);
    assert.equal(heard.chatType, expected[kind]);
    assert.equal(heard.external, false);
  }
});

test('A1 a conversation shared with another company is external', async (t) => {
  const { slack, message } = await connectSlackChannel(t);
  const anna = slack.workspace.addUser('anna');
  slack.people.post(
    anna,
    slack.workspace.addRoom('channel', { members: [anna.id], external: true }),
    'hello',
  );
  assert.equal((await message()).external, true);
});

test('A9 a member of another workspace is a guest, in a shared channel and in a direct message', async (t) => {
  const { slack, message } = await connectSlackChannel(t);
  const eve = slack.workspace.addUser('eve', { team: 'T0OTHER', enterprise: true });
  assert.match(eve.id, /^W/);
  const room = slack.workspace.addRoom('channel', { members: [eve.id], external: true });
  slack.people.mention(eve, room, 'in the channel');
  slack.people.dm(eve, 'directly');
  for (const words of ['in the channel', 'directly']) {
    const heard = await message(({ text }) => text === words);
    assert.equal(heard.sender.kind, 'guest');
    assert.equal(heard.external, true);
  }
});

test('A9 who speaks in another workspace that the app is installed in is a guest, though the event names no team', () => {
  const me = { team: 'T1', user: 'UBOT', command: '/skill' };
  const event = { type: 'message', channel: 'D1', channel_type: 'im', user: 'U1', ts: '1.1', text: 'hi' };
  const edit = { ...event, subtype: 'message_changed', message: { ...event, text: 'changed' } };
  const user = { id: 'U1', name: 'anna' };
  const press = { type: 'block_actions', user, container: { message_ts: '1.1', channel_id: 'D1' } };
  const speaker = (payload: object): string => {
    const read = meaningOf(payload, me, 1);
    assert.ok('event' in read);
    const { sender, external } = read.event.type === 'press' ? read.event.press : read.event.message;
    assert.equal(external, sender.kind === 'guest');
    return sender.kind;
  };
  const wrapped = { type: 'event_callback', event };
  assert.equal(speaker({ ...wrapped, team_id: 'T1' }), 'person');
  assert.equal(speaker({ ...wrapped, authorizations: [{ team_id: 'T1' }] }), 'person');
  assert.equal(speaker({ ...wrapped, team_id: 'T2' }), 'guest');
  assert.equal(speaker({ ...wrapped, team_id: 'T2', authorizations: [{ team_id: 'T1' }] }), 'guest');
  assert.equal(speaker({ ...wrapped, authorizations: [{ team_id: 'T2' }] }), 'guest');
  assert.equal(speaker({ ...wrapped, event: edit, team_id: 'T2' }), 'guest');
  assert.equal(speaker(wrapped), 'guest');
  assert.equal(speaker({ ...press, actions: [{ action_id: 'skillet:a', value: 'a' }] }), 'guest');
  const slash = { command: '/skill', trigger_id: '1', channel_id: 'D1', user_id: 'U1' };
  assert.equal(speaker(slash), 'guest');
  const view = { callback_id: 'skillet:form', private_metadata: '["a","D1",""]', state: { values: {} } };
  const form = { type: 'view_submission', trigger_id: '1', user, view };
  assert.equal(toFilled(form, me)?.sender.kind, 'guest');
});

test('A9 another bot is a bot, and the bot’s own messages, edits and deletions are no events', async (t) => {
  const { slack, channel, events, log } = await connectSlackChannel(t);
  const robot = slack.workspace.addUser('robot');
  const room = slack.workspace.addRoom('channel', { members: [robot.id] });
  const conversation = { channel: 'slack', chat: room.id };
  const receipt = await channel.send(conversation, { markdown: 'mine' }, 'key-1');
  await channel.edit(conversation, receipt, { markdown: 'mine, changed' });
  await slack.people.remove({ channel: room.id, ts: receipt.id });
  await slack.idle();
  slack.people.mention(robot, room, 'beep', { asBot: 'B0ROBOT' });
  const heard = await events.until(({ type }) => type === 'message');
  assert.ok(heard.type === 'message');
  assert.equal(heard.message.sender.kind, 'bot');
  await slack.idle();
  assert.equal(events.all().filter(({ type }) => type !== 'message').length, 0);
  const reasons = log
    .all()
    .flatMap(({ fields }) => ('reason' in fields ? [String(fields.reason)] : []))
    .sort();
  assert.deepEqual(reasons, ['own message', 'own message', 'own message']);
});

test('H4 every root message to the bot in a channel begins a thread of its own, replies stay in theirs', async (t) => {
  const { slack, message } = await connectSlackChannel(t);
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('group', { members: [anna.id] });
  const first = slack.people.mention(anna, room, 'first');
  const second = slack.people.mention(anna, room, 'second');
  slack.people.mention(anna, room, 'third', { thread: first.ts });
  assert.equal((await message(({ text }) => text === 'first')).conversation.thread, first.ts);
  assert.equal((await message(({ text }) => text === 'second')).conversation.thread, second.ts);
  assert.equal((await message(({ text }) => text === 'third')).conversation.thread, first.ts);
});

test('H4 without a mention a channel message is not addressed', async (t) => {
  const { slack, message } = await connectSlackChannel(t);
  const [anna, ben] = [slack.workspace.addUser('anna'), slack.workspace.addUser('ben')];
  const room = slack.workspace.addRoom('channel', { members: [anna.id, ben.id] });
  slack.people.post(anna, room, `<@${ben.id}> lunch?`);
  const heard = await message();
  assert.equal(heard.addressed, false);
  assert.equal(heard.text, '@ben lunch?');
});

test('H11 H4 who talks with the bot in a thread needs no mention until somebody else speaks there', async (t) => {
  for (const threadFollow of [true, false]) {
    const partners = createThreadPartners(await openStore('sqlite::memory:', { clock: systemClock }));
    const { slack, message } = await connectSlackChannel(t, { channel: { threadFollow, partners } });
    const [anna, ben] = [slack.workspace.addUser('anna'), slack.workspace.addUser('ben')];
    const room = slack.workspace.addRoom('channel', { members: [anna.id, ben.id] });
    const root = slack.people.mention(anna, room, 'root');
    await message(({ text }) => text === 'root');
    const other = slack.people.post(anna, room, 'something else');
    const isFor = async (who: typeof anna, text: string, more: { asBot?: string } = {}) => {
      slack.people.post(who, room, text, { thread: root.ts, ...more });
      return (await message((each) => text.endsWith(each.text.replace(/^@\S+ /, '')))).addressed;
    };
    assert.equal(await isFor(anna, 'and mine?'), threadFollow);
    assert.equal(await isFor(ben, 'beep', { asBot: 'B0ROBOT' }), false);
    assert.equal(await isFor(anna, `<@${ben.id}> look`), false, 'it is for Ben');
    assert.equal(await isFor(anna, 'and his?'), threadFollow);
    slack.people.post(anna, room, 'elsewhere', { thread: other.ts });
    assert.equal((await message(({ text }) => text === 'elsewhere')).addressed, false);
    assert.equal(await isFor(ben, 'lunch at 12?'), false, 'Ben never spoke with the bot');
    assert.equal(await isFor(anna, 'sure!'), false, 'it follows words of Ben');
    slack.people.mention(ben, room, 'and you?', { thread: root.ts });
    await message(({ text }) => text === 'and you?');
    assert.equal(await isFor(ben, 'really?'), threadFollow);
    assert.equal(await isFor(anna, `<@${ben.id}> never mind`), false);
    assert.equal(await isFor(ben, 'fine'), false, 'it follows words of Anna');
  }
});

test('I1 !stop in a thread reaches the bot without a mention, even before its first answer', async (t) => {
  let working = '';
  const isAtWork = async ({ thread }: Conversation) => thread === working;
  const { slack, message } = await connectSlackChannel(t, { channel: { threadFollow: false, isAtWork } });
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  const root = slack.people.mention(anna, room, 'work');
  working = root.ts;
  const other = slack.people.post(anna, room, 'chat');
  await message(({ text }) => text === 'work');
  slack.people.post(anna, room, '!Stop  now ', { thread: root.ts });
  slack.people.post(anna, room, '!stop', { thread: other.ts });
  const stop = await message(({ text }) => text.startsWith('!Stop'));
  assert.equal(stop.addressed, true);
  assert.deepEqual(stop.command, { name: 'stop', args: 'now' });
  assert.equal((await message(({ text }) => text === '!stop')).addressed, false);
});

test('I1 after the mention a call is written as one; a word alone may be a built-in command', async (t) => {
  const { slack, message } = await connectSlackChannel(t);
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  slack.people.mention(anna, room, '/Code-Review a\nb');
  slack.people.mention(anna, room, 'research the moon');
  slack.people.mention(anna, room, 'research: the sea');
  slack.people.mention(anna, room, 'status');
  const command = await message(({ text }) => text.startsWith('/'));
  assert.deepEqual(command.command, { name: 'code-review', args: 'a\nb' });
  const words = await message(({ text }) => text.startsWith('research'));
  assert.deepEqual(words.command, { name: 'research', args: 'the moon', bare: true });
  const named = await message(({ text }) => text.startsWith('research:'));
  equalData(named.command, { name: 'research', args: 'the sea' });
  const alone = await message(({ text }) => text === 'status');
  assert.deepEqual(alone.command, { name: 'status', args: '', bare: true });
  slack.people.dm(anna, 'research the sun');
  assert.equal((await message(({ text }) => text === 'research the sun')).command, undefined);
});

test('H4 a message with files is a message, the files become attachments', async (t) => {
  const { slack, message } = await connectSlackChannel(t);
  const anna = slack.workspace.addUser('anna');
  const files = [{ id: 'F1', name: '../x.png', mimetype: 'image/png', size: 12 }, { id: 'F2' }];
  slack.people.dm(anna, 'look', { files });
  equalData((await message()).attachments, [
    { kind: 'photo', name: '../x.png', mime: 'image/png', size: 12, ref: 'F1' },
    { kind: 'other', name: 'file', ref: 'F2' },
  ]);
});

test('H4 an edit comes as the edited message under the same id, a deletion as what is gone', async (t) => {
  const { slack, events, message } = await connectSlackChannel(t);
  const anna = slack.workspace.addUser('anna');
  const said = slack.people.dm(anna, 'helo');
  const first = await message();
  await slack.people.edit(said, 'hello');
  const edited = await events.until(({ type }) => type === 'edited');
  assert.ok(edited.type === 'edited');
  assert.deepEqual(edited.message, { ...first, text: 'hello' });
  await slack.people.edit(said, 'hello');
  await slack.people.remove(said);
  const gone = await events.until(({ type }) => type === 'deleted');
  assert.deepEqual(gone, { type: 'deleted', message: edited.message });
  assert.equal(events.all().length, 3);
});

test('H4 messages of one conversation are handed on in order, whatever each takes to be stored', async (t) => {
  const stored = Promise.withResolvers<void>();
  const order: string[] = [];
  const { slack, events } = await connectSlackChannel(t, {
    onEvent: async (event) => {
      if (event.type === 'message' && event.message.text === '0') await stored.promise;
      if (event.type === 'message') order.push(event.message.text);
    },
  });
  const [anna, ben] = [slack.workspace.addUser('anna'), slack.workspace.addUser('ben')];
  for (let number = 0; number < 5; number++) slack.people.dm(anna, String(number));
  slack.people.dm(ben, 'ben');
  // Another conversation is not held up.
  await events.until((event) => event.type === 'message' && event.message.text === 'ben');
  stored.resolve();
  await events.untilCount(6);
  assert.deepEqual(order, ['ben', '0', '1', '2', '3', '4']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectSlackChannel, type ConnectedSlack } from '../servers/slack/connected-slack.ts';

const bounds = { most: 50, since: 0 };

async function roomWith({ slack }: ConnectedSlack) {
  const [anna, ben] = [slack.workspace.addUser('anna'), slack.workspace.addUser('ben')];
  const room = slack.workspace.addRoom('channel', { members: [anna.id, ben.id], bot: false });
  return { anna, ben, room };
}

test('H10 what was said in a thread before the bot came is read, with its authors, the bot’s own words among them', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const { anna, ben, room } = await roomWith(connected);
  const root = slack.people.post(ben, room, 'The ferry leaves at ten.');
  slack.people.post(ben, room, 'Not in the thread.');
  slack.people.post(anna, room, `<@${ben.id}>, which harbour?`, { thread: root.ts });
  slack.people.post(anna, room, 'anna joined', { thread: root.ts, subtype: 'channel_join' });
  slack.people.post(ben, room, 'alarm', { thread: root.ts, asBot: 'B0ALARM' });
  const namesake = slack.workspace.addUser('skillet', { displayName: slack.workspace.bot.name });
  slack.people.post(namesake, room, 'I am you.', { thread: root.ts });
  await slack.people.addBot(anna, room);
  await channel.send({ channel: 'slack', chat: room.id, thread: root.ts }, { markdown: 'My own.' }, 'k');
  const asked = connected.message(({ addressed }) => addressed);
  slack.people.mention(anna, room, 'summarize', { thread: root.ts });
  const message = await asked;
  const earlier = (await channel.readEarlier?.(message, bounds)) ?? [];
  assert.deepEqual(
    earlier.map(({ text, sender, addressed }) => [text, sender.kind, sender.own, addressed]),
    [
      ['The ferry leaves at ten.', 'person', undefined, false],
      ['@ben, which harbour?', 'person', undefined, false],
      ['alarm', 'bot', undefined, false],
      ['I am you.', 'person', undefined, false],
      ['My own.', 'bot', true, false],
    ],
  );
  assert.deepEqual(
    earlier.slice(0, 3).map(({ sender }) => sender.name),
    ['ben', 'anna', 'B0ALARM'],
  );
  const [root0] = earlier;
  assert.deepEqual(root0?.conversation, message.conversation);
});

test('H10 of a long thread the newest are read', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const { anna, ben, room } = await roomWith(connected);
  const root = slack.people.post(ben, room, 'root');
  for (let n = 0; n < 250; n++) slack.people.post(ben, room, `line ${n}`, { thread: root.ts });
  await slack.people.addBot(anna, room);
  const asked = connected.message(({ addressed }) => addressed);
  slack.people.mention(anna, room, 'summarize', { thread: root.ts });
  const earlier = (await channel.readEarlier?.(await asked, { ...bounds, most: 3 })) ?? [];
  assert.deepEqual(
    earlier.map(({ text }) => text),
    ['line 247', 'line 248', 'line 249'],
  );
});

test('H10 M10 a mention that begins a thread comes with what was just said in the channel, not in its threads', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const { anna, ben, room } = await roomWith(connected);
  slack.people.post(ben, room, 'too early');
  const first = slack.people.post(ben, room, 'The ferry leaves at ten.');
  slack.people.post(anna, room, 'elsewhere', { thread: first.ts });
  slack.people.post(anna, room, 'Which harbour?');
  await slack.people.addBot(anna, room);
  await channel.send({ channel: 'slack', chat: room.id }, { markdown: 'The old one.' }, 'k');
  const asked = connected.message(({ addressed }) => addressed);
  slack.people.mention(anna, room, 'summarize');
  const earlier = (await channel.readEarlier?.(await asked, { most: 3, since: 0 })) ?? [];
  assert.deepEqual(
    earlier.map(({ text, sender }) => [text, sender.own]),
    [
      ['The ferry leaves at ten.', undefined],
      ['Which harbour?', undefined],
      ['The old one.', true],
    ],
  );
});

test('H10 what may not be read is an error, and a direct message has nothing before it', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const { anna, ben, room } = await roomWith(connected);
  const root = slack.people.post(ben, room, 'root');
  await slack.people.addBot(anna, room);
  const asked = connected.message(({ chatType }) => chatType === 'channel');
  slack.people.mention(anna, room, 'summarize', { thread: root.ts });
  const message = await asked;
  slack.faults.next('conversations.replies', { kind: 'error', error: 'missing_scope' });
  await assert.rejects(async () => channel.readEarlier?.(message, bounds), /missing_scope/);
  const direct = connected.message(({ chatType }) => chatType === 'private');
  slack.people.dm(anna, 'hello');
  assert.deepEqual(await channel.readEarlier?.(await direct, bounds), []);
});

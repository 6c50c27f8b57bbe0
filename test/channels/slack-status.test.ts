import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../support/manual-clock.ts';
import { connectSlackChannel, type ConnectedSlack } from '../support/slack-server/connected-slack.ts';

const line = (text: string) => ({ kind: 'line', text }) as const;

async function threadIn({ slack }: ConnectedSlack) {
  const anna = slack.workspace.addUser('anna');
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  const root = slack.people.mention(anna, room, 'work');
  await root.delivered;
  return { anna, room, conversation: { channel: 'slack', chat: room.id, thread: root.ts } };
}

const statuses = ({ slack }: ConnectedSlack) =>
  slack.shown.all().flatMap((shown) => (shown['kind'] === 'status' ? [shown['status']] : []));

test('H7 in a thread the status is Slack’s own line, and is gone in the end', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const { room, conversation } = await threadIn(connected);
  await channel.status(conversation, { kind: 'typing' });
  await slack.shown.until(({ status }) => status === 'is thinking…');
  await channel.status(conversation, line('research: step 3'));
  await slack.shown.until(({ status }) => status === 'research: step 3');
  await channel.status(conversation, undefined);
  assert.equal(statuses(connected).at(-1), '');
  assert.equal(room.messages.length, 1);
});

test('H7 where Slack has no line, one message changes and is deleted; the refusal is remembered', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const { conversation } = await threadIn(connected);
  slack.faults.always('assistant.threads.setStatus', { kind: 'error', error: 'channel_not_found' });
  await channel.status(conversation, { kind: 'typing' });
  await channel.status(conversation, line('step <1>'));
  const message = await slack.posted();
  assert.equal(message.text, '_step &lt;1&gt;_');
  assert.equal(message.threadTs, conversation.thread);
  await channel.status(conversation, line('step 2'));
  await slack.changes.until(({ kind, message: { text } }) => kind === 'updated' && text === '_step 2_');
  await channel.status(conversation, undefined);
  await channel.status(conversation, line('later'));
  await slack.posted(({ text }) => text === '_later_');
  await channel.status(conversation, undefined);
  assert.deepEqual(
    slack.changes.all().map(({ kind }) => kind),
    ['posted', 'updated', 'deleted', 'posted', 'deleted'],
  );
  const tried = slack.calls.all().filter(({ method }) => method === 'assistant.threads.setStatus');
  assert.equal(tried.length, 1);
});

test('H7 a direct message without a thread shows a status message, and nothing for typing alone', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const room = slack.workspace.dmWith(slack.workspace.addUser('anna').id);
  const conversation = { channel: 'slack', chat: room.id };
  await channel.status(conversation, { kind: 'typing' });
  await channel.status(conversation, undefined);
  assert.equal(slack.changes.all().length, 0);
  await channel.status(conversation, line('at work'));
  await slack.posted();
  await channel.status(conversation, undefined);
  assert.deepEqual(slack.transcript(room), []);
});

test('H7 a removal wins over a change that is still under way', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const room = slack.workspace.dmWith(slack.workspace.addUser('anna').id);
  const conversation = { channel: 'slack', chat: room.id };
  const gate = Promise.withResolvers<void>();
  slack.faults.next('chat.postMessage', { kind: 'hold', until: gate.promise });
  await channel.status(conversation, line('one'));
  await channel.status(conversation, line('two'));
  const removed = channel.status(conversation, undefined);
  gate.resolve();
  await removed;
  assert.deepEqual(slack.transcript(room), []);
  assert.deepEqual(
    slack.changes.all().map(({ kind }) => kind),
    ['posted', 'deleted'],
  );
});

test('H7 a status message whose posting was cut off, or whose removal failed, is not left behind', async (t) => {
  const clock = createManualClock(Date.now());
  const connected = await connectSlackChannel(t, { channel: { clock } });
  const { slack, channel } = connected;
  const room = slack.workspace.dmWith(slack.workspace.addUser('anna').id);
  const conversation = { channel: 'slack', chat: room.id };
  slack.faults.next('chat.postMessage', { kind: 'cut', when: 'after' });
  slack.faults.next('chat.delete', { kind: 'status', status: 503 });
  await channel.status(conversation, line('at work'));
  await slack.calls.until(({ method }) => method === 'conversations.history');
  const removed = channel.status(conversation, undefined);
  await slack.calls.until(({ method }) => method === 'chat.delete');
  await clock.runUntil(removed);
  assert.deepEqual(slack.transcript(room), []);
});

test('H7 the line is put up again before Slack takes it away after two minutes', async (t) => {
  const clock = createManualClock(Date.now());
  const connected = await connectSlackChannel(t, { channel: { clock } });
  const { slack, channel } = connected;
  const { conversation } = await threadIn(connected);
  await channel.status(conversation, line('long work'));
  for (const times of [1, 2, 3]) {
    await slack.shown.untilCount(times, ({ status }) => status === 'long work');
    await clock.advance(90_000);
  }
  await channel.status(conversation, undefined);
  assert.equal(statuses(connected).at(-1), '');
});

test('H8 a status message never takes the place of an answer', async (t) => {
  const clock = createManualClock(Date.now());
  const connected = await connectSlackChannel(t, { channel: { clock, paced: true } });
  const { slack, channel } = connected;
  const room = slack.workspace.dmWith(slack.workspace.addUser('anna').id);
  const conversation = { channel: 'slack', chat: room.id };
  await channel.send(conversation, { markdown: 'one' }, 'k1');
  await channel.status(conversation, line('busy'));
  const second = channel.send(conversation, { markdown: 'two' }, 'k2');
  await clock.advance(1000);
  await second;
  assert.deepEqual(
    room.messages.map(({ text }) => text),
    ['one', 'two'],
  );
  await clock.advance(1000);
  await slack.posted(({ text }) => text === '_busy_');
  await channel.status(conversation, undefined);
});

test('H7 stopping removes what is shown', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const room = slack.workspace.dmWith(slack.workspace.addUser('anna').id);
  await channel.status({ channel: 'slack', chat: room.id }, line('at work'));
  await slack.posted();
  await channel.stop();
  assert.deepEqual(slack.transcript(room), []);
});

test('H7 a status never throws, whatever Slack says', async (t) => {
  const clock = createManualClock(Date.now());
  const connected = await connectSlackChannel(t, { channel: { clock } });
  const { slack, channel } = connected;
  const { conversation } = await threadIn(connected);
  slack.faults.always('*', { kind: 'status', status: 500 });
  await channel.status(conversation, line('x'));
  await clock.runUntil(channel.status(conversation, undefined));
  slack.faults.clear();
});

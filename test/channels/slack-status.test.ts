import assert from 'node:assert/strict';
import { test } from 'node:test';
import { neededScopes } from '../../src/channels/slack/identify.ts';
import { keptPlaceholder } from '../support/kept-placeholder.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { connectSlackChannel, type ConnectedSlack } from '../servers/slack/connected-slack.ts';

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
  const work = keptPlaceholder();
  await channel.status(conversation, { kind: 'typing' }, work);
  await slack.shown.until(({ status }) => status === 'is thinking…');
  await channel.status(conversation, line('research: step 3'), work);
  await slack.shown.until(({ status }) => status === 'research: step 3');
  await channel.status(conversation, undefined, work);
  await slack.shown.until(({ status }) => status === '');
  assert.equal(room.messages.length, 1);
  assert.deepEqual(work.receipts, []);
});

test('H7 the end of a piece of work does not wait for Slack’s own line, and leaves that of newer work alone', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const { conversation } = await threadIn(connected);
  const older = keptPlaceholder({ key: 'older' });
  const newer = keptPlaceholder({ key: 'newer' });
  await channel.status(conversation, line('older'), older);
  await slack.shown.until(({ status }) => status === 'older');
  await channel.status(conversation, line('newer'), newer);
  await slack.shown.until(({ status }) => status === 'newer');
  await channel.status(conversation, undefined, older);
  const gate = Promise.withResolvers<void>();
  slack.faults.next('assistant.threads.setStatus', { kind: 'hold', until: gate.promise });
  await channel.status(conversation, undefined, newer);
  assert.equal(statuses(connected).at(-1), 'newer');
  gate.resolve();
  await slack.shown.until(({ status }) => status === '');
  assert.deepEqual(statuses(connected), ['older', 'newer', '']);
});

test('Q6 where Slack has no line, one message changes, by an edit into words too; the refusal is remembered', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const { room, conversation } = await threadIn(connected);
  slack.faults.always('assistant.threads.setStatus', { kind: 'error', error: 'channel_not_found' });
  const work = keptPlaceholder();
  await channel.status(conversation, { kind: 'typing' }, work);
  await channel.status(conversation, line('step <1>'), work);
  const message = await slack.posted();
  assert.equal(message.text, '_step &lt;1&gt;_');
  assert.equal(message.threadTs, conversation.thread);
  assert.deepEqual(await work.first, { id: message.ts, silent: true });
  await channel.status(conversation, line('step 2'), work);
  await slack.changes.until(({ kind, message: { text } }) => kind === 'updated' && text === '_step 2_');
  await channel.status(conversation, undefined, work);
  const buttons = [{ label: 'Yes', action: 'yes' }];
  await channel.edit(conversation, await work.first, { markdown: '**done**', buttons });
  const answer = room.messages.at(-1);
  assert.deepEqual([answer?.ts, answer?.text], [message.ts, '*done*']);
  assert.deepEqual(
    answer?.blocks?.map(({ type }) => type),
    ['markdown', 'actions'],
  );
  assert.deepEqual(
    slack.changes.all().map(({ kind }) => kind),
    ['posted', 'updated', 'updated'],
  );
  const tried = slack.calls.all().filter(({ method }) => method === 'assistant.threads.setStatus');
  assert.equal(tried.length, 1);
});

test('Q6 a message of a process before is gone on with, and can be removed, twice', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const room = slack.workspace.dmWith(slack.workspace.addUser('anna').id);
  const conversation = { channel: 'slack', chat: room.id };
  const stored = await channel.send(conversation, { markdown: 'step 1' }, 'k');
  const work = keptPlaceholder({ stored });
  await channel.status(conversation, line('step 2'), work);
  await slack.changes.until(({ message: { text } }) => text === '_step 2_');
  await channel.status(conversation, undefined, work);
  await channel.remove(conversation, stored);
  await channel.remove(conversation, stored);
  assert.deepEqual(slack.transcript(room), []);
});

test('H6 words of an answer are one message that changes, in a thread in place of Slack’s line, and become the answer', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const { anna, room, conversation } = await threadIn(connected);
  const direct = slack.workspace.dmWith(anna.id);
  const asked = slack.people.dm(anna, 'hello').ts;
  const places = [
    [room, conversation],
    [direct, { channel: 'slack', chat: direct.id }],
  ] as const;
  for (const [here, place] of places) {
    const work = keptPlaceholder({ key: `work in ${here.id}`, asked });
    await channel.status(place, { kind: 'typing' }, work);
    await channel.status(place, { kind: 'words', markdown: 'It *is' }, work);
    const first = await slack.posted(
      ({ channel: chat, ts }) => chat === here.id && ts !== conversation.thread && ts !== asked,
    );
    assert.equal(first.threadTs, here === room ? conversation.thread : undefined);
    assert.deepEqual(await work.first, { id: first.ts });
    await channel.status(place, { kind: 'words', markdown: 'It *is* so <!channel>' }, work);
    await slack.changes.until(({ kind, message }) => kind === 'updated' && message.ts === first.ts);
    await channel.status(place, undefined, work);
    assert.doesNotMatch(JSON.stringify(here.messages), /<!channel>/);
    await channel.edit(place, await work.first, { markdown: '**done**' });
    assert.equal(here.messages.at(-1)?.text, '*done*');
    assert.equal(here.messages.filter(({ user }) => user === first.user).length, 1);
  }
  await t.waitFor(() => assert.equal(statuses(connected).at(-1) ?? '', ''), { timeout: 60_000 });
});

test('H6 U13 on Slack words after a line are a new message, and the line goes', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const room = slack.workspace.dmWith(slack.workspace.addUser('anna').id);
  const place = { channel: 'slack', chat: room.id };
  const work = keptPlaceholder();
  await channel.status(place, line('searching'), work);
  await slack.posted(({ text }) => text === '_searching_');
  await channel.status(place, { kind: 'words', markdown: 'I found it.' }, work);
  const words = await slack.posted(({ text }) => text === 'I found it.');
  await t.waitFor(() => assert.deepEqual(work.receipts, [{ id: words.ts }]), { timeout: 60_000 });
  assert.deepEqual(
    room.messages.filter(({ deleted }) => !deleted).map(({ text }) => text),
    ['I found it.'],
  );
  await channel.status(place, undefined, work);
});

test('U13 a direct message without a thread shows a reaction at once, which goes with the work or with its first words', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const anna = slack.workspace.addUser('anna');
  const reactions = () => slack.shown.all().map(({ change, ts, name }) => [change, ts, name]);
  for (const last of [undefined, { kind: 'words', markdown: 'It is' }, line('at work')] as const) {
    const said = slack.people.dm(anna, 'hello');
    await said.delivered;
    const place = { channel: 'slack', chat: said.channel };
    const work = keptPlaceholder({ key: said.ts, asked: said.ts });
    await channel.status(place, { kind: 'typing' }, work);
    await slack.shown.until(({ kind, ts }) => kind === 'reaction' && ts === said.ts);
    assert.deepEqual(reactions().at(-1), ['added', said.ts, 'eyes']);
    assert.deepEqual(work.receipts, []);
    if (last !== undefined) {
      await channel.status(place, last, work);
      await work.first;
    }
    if (last?.kind !== 'words') await channel.status(place, undefined, work);
    await slack.shown.until(({ change, ts }) => change === 'removed' && ts === said.ts);
    await channel.status(place, undefined, work);
  }
});

test('U13 a second piece of work in a direct message keeps its reaction when the first ends', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const anna = slack.workspace.addUser('anna');
  const asked = [slack.people.dm(anna, 'one'), slack.people.dm(anna, 'two')];
  const works = asked.map(({ ts }) => keptPlaceholder({ key: ts, asked: ts }));
  for (const [index, said] of asked.entries()) {
    await said.delivered;
    await channel.status({ channel: 'slack', chat: said.channel }, { kind: 'typing' }, works[index]!);
    await slack.shown.until(({ ts }) => ts === said.ts);
  }
  for (const [index, said] of asked.entries()) {
    await channel.status({ channel: 'slack', chat: said.channel }, undefined, works[index]!);
    await slack.shown.until(({ change, ts }) => change === 'removed' && ts === said.ts);
  }
  assert.deepEqual(
    slack.shown.all().map(({ change, ts }) => [change, ts]),
    [...asked.map(({ ts }) => ['added', ts]), ...asked.map(({ ts }) => ['removed', ts])],
  );
});

test('U13 where the bot may not react, a direct message without a thread shows a line at once', async (t) => {
  const scopes = [...neededScopes.keys()].filter((scope) => scope !== 'reactions:write');
  const { slack, channel } = await connectSlackChannel(t, { server: { scopes } });
  const said = slack.people.dm(slack.workspace.addUser('anna'), 'hello');
  await said.delivered;
  const place = { channel: 'slack', chat: said.channel };
  for (const key of ['first', 'second']) {
    const work = keptPlaceholder({ key, asked: said.ts });
    await channel.status(place, { kind: 'typing' }, work);
    assert.equal((await work.first).silent, true);
    await channel.status(place, undefined, work);
  }
  assert.deepEqual(
    slack.changes
      .all()
      .flatMap(({ kind, message }) => (message.ts === said.ts ? [] : [[kind, message.text]])),
    [
      ['posted', '_…_'],
      ['posted', '_…_'],
    ],
  );
  assert.equal(slack.calls.all().filter(({ method }) => method === 'reactions.add').length, 1);
});

test('H13 where a receipt reaction is set, a direct message needs no other sign, and keeps it', async (t) => {
  const { slack, channel } = await connectSlackChannel(t, { channel: { reaction: 'eyes' } });
  const said = slack.people.dm(slack.workspace.addUser('anna'), 'hello');
  await said.delivered;
  const place = { channel: 'slack', chat: said.channel };
  const work = keptPlaceholder({ asked: said.ts });
  await channel.status(place, { kind: 'typing' }, work);
  await channel.status(place, line('at work'), work);
  await slack.posted(({ text }) => text === '_at work_');
  await channel.status(place, undefined, work);
  await channel.stop();
  assert.deepEqual(
    slack.calls.all().filter(({ method }) => method.startsWith('reactions.')),
    [],
  );
});

test('Q6 a line that is still on its way when the work ends is known before the answer', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const room = slack.workspace.dmWith(slack.workspace.addUser('anna').id);
  const conversation = { channel: 'slack', chat: room.id };
  const work = keptPlaceholder();
  const gate = Promise.withResolvers<void>();
  slack.faults.next('chat.postMessage', { kind: 'hold', until: gate.promise });
  await channel.status(conversation, line('one'), work);
  await channel.status(conversation, line('two'), work);
  // By then the request has left: nothing but promises lies before it.
  await new Promise((resolve) => setImmediate(resolve));
  const ended = channel.status(conversation, undefined, work);
  gate.resolve();
  await ended;
  assert.deepEqual(
    work.receipts.map(({ id }) => id),
    room.messages.map(({ ts }) => ts),
  );
  assert.deepEqual(
    slack.changes.all().map(({ kind }) => kind),
    ['posted'],
  );
});

test('Q6 a status message whose posting was cut off is found by its key, which no look for the answer finds', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const room = slack.workspace.dmWith(slack.workspace.addUser('anna').id);
  const conversation = { channel: 'slack', chat: room.id };
  slack.faults.next('chat.postMessage', { kind: 'cut', when: 'after' });
  const work = keptPlaceholder({ key: 'item#0!status' });
  await channel.status(conversation, line('at work'), work);
  const { ts } = await slack.posted();
  assert.deepEqual(await work.first, { id: ts, silent: true });
  await channel.status(conversation, undefined, work);
  await channel.edit(conversation, await work.first, { markdown: 'the answer' });
  assert.equal(await channel.find(conversation, 'item#0'), undefined);
  assert.deepEqual(await channel.find(conversation, 'item#0!status'), { id: ts });
});

test('H7 the line is put up again before Slack takes it away after two minutes', async (t) => {
  const clock = createManualClock(Date.now());
  const connected = await connectSlackChannel(t, { channel: { clock } });
  const { slack, channel } = connected;
  const { conversation } = await threadIn(connected);
  const work = keptPlaceholder();
  await channel.status(conversation, line('long work'), work);
  for (const times of [1, 2, 3]) {
    await slack.shown.untilCount(times, ({ status }) => status === 'long work');
    await clock.advance(90_000);
  }
  await channel.status(conversation, undefined, work);
  await slack.shown.until(({ status }) => status === '');
});

test('H8 a status message never takes the place of an answer', async (t) => {
  const clock = createManualClock(Date.now());
  const connected = await connectSlackChannel(t, { channel: { clock, paced: true } });
  const { slack, channel } = connected;
  const room = slack.workspace.dmWith(slack.workspace.addUser('anna').id);
  const conversation = { channel: 'slack', chat: room.id };
  const work = keptPlaceholder();
  await channel.send(conversation, { markdown: 'one' }, 'k1');
  await channel.status(conversation, line('busy'), work);
  const second = channel.send(conversation, { markdown: 'two' }, 'k2');
  await clock.advance(1000);
  await second;
  assert.deepEqual(
    room.messages.map(({ text }) => text),
    ['one', 'two'],
  );
  await clock.advance(1000);
  await slack.posted(({ text }) => text === '_busy_');
  await channel.status(conversation, undefined, work);
});

test('H7 stopping takes Slack’s own line away and leaves a message for its answer', async (t) => {
  const connected = await connectSlackChannel(t);
  const { slack, channel } = connected;
  const room = slack.workspace.dmWith(slack.workspace.addUser('anna').id);
  const { conversation } = await threadIn(connected);
  await channel.status({ channel: 'slack', chat: room.id }, line('a message'), keptPlaceholder({ key: 'a' }));
  await channel.status(conversation, line('a line'), keptPlaceholder({ key: 'b' }));
  await slack.posted(({ text }) => text === '_a message_');
  await slack.shown.until(({ status }) => status === 'a line');
  await channel.stop();
  assert.equal(statuses(connected).at(-1), '');
  assert.equal(slack.transcript(room).length, 1);
});

test('H7 a status never throws, whatever Slack says', async (t) => {
  const clock = createManualClock(Date.now());
  const connected = await connectSlackChannel(t, { channel: { clock } });
  const { slack, channel } = connected;
  const { conversation } = await threadIn(connected);
  const work = keptPlaceholder();
  slack.faults.always('*', { kind: 'status', status: 500 });
  await channel.status(conversation, line('x'), work);
  await clock.runUntil(channel.status(conversation, undefined, work));
  slack.faults.clear();
});

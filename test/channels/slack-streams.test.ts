import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { ChatStatus } from '../../src/core/channel.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { keptPlaceholder } from '../support/kept-placeholder.ts';
import { streamedIn } from '../servers/slack/stream-chunks.ts';
import { connectSlackChannel } from '../servers/slack/connected-slack.ts';
import { askedInAgentView, type AgentViewOptions } from '../support/asked-in-agent-view.ts';

/** Words are streamed there. */
async function asked(t: TestContext, options?: AgentViewOptions) {
  const set = await askedInAgentView(t, options);
  const { slack, channel, place } = set;
  const key = `slack:${slack.workspace.team}:${place.chat}:${place.thread}#0!status`;
  const work = keptPlaceholder({ key, asked: place.thread });
  const show = (status: ChatStatus | string | undefined) =>
    channel.status(place, typeof status === 'string' ? { kind: 'words', markdown: status } : status, work);
  const shown = (text: string) =>
    t.waitFor(
      () =>
        assert.ok(
          slack.changes.all().some(({ kind, message }) => kind !== 'deleted' && message.text === text),
          text,
        ),
      { timeout: 30_000 },
    );
  return { ...set, key, work, show, shown };
}

const edit = 'update';

test('H6 with Slack’s agent view words are added to one open message, which an edit turns into the answer with its links', async (t) => {
  const { slack, channel, place, work, own, show, shown, writes } = await asked(t);
  await show({ kind: 'typing' });
  await show('It **is**');
  await shown('It **is**');
  const [message] = own();
  assert.equal(message?.threadTs, place.thread);
  assert.deepEqual(await work.first, { id: message?.ts });
  await show('It **is** so, says https://example.com/a.');
  await shown('It **is** so, says https∶//example․com/a');
  await show('It **is** so, says https://example.com/a. Not [here](https://x.io), <!channel>.');
  await shown(
    'It **is** so, says https∶//example․com/a. Not [here]\u2060(https∶//x․io), <\u2060!\u2060channel>',
  );
  await show(undefined);
  const pieces = slack.calls
    .all()
    .filter(({ method }) => /Stream$/.test(method))
    .map(({ args }) => streamedIn(args));
  assert.equal(pieces.join(''), own()[0]?.text);
  assert.deepEqual(own()[0]?.metadata?.event_payload, { key: work.key });
  await channel.edit(place, await work.first, { markdown: 'It is so: [a](https://example.com/a)' });
  assert.deepEqual(
    own().map(({ ts, text }) => [ts, text]),
    [[message?.ts, 'It is so: <https://example.com/a|a>']],
  );
  assert.deepEqual(writes(), ['startStream', 'appendStream', 'appendStream', 'stopStream', 'update']);
});

test('H6 in threads of channels, and in direct messages without the agent view, words stay edits that all see', async (t) => {
  const { slack, channel, anna } = await asked(t);
  const room = slack.workspace.addRoom('channel', { members: [anna.id] });
  const root = slack.people.mention(anna, room, 'work');
  await root.delivered;
  const plain = await connectSlackChannel(t);
  const dm = plain.slack.people.dm(plain.slack.workspace.addUser('ben'), 'hello');
  const places = [
    [slack, channel, { channel: 'slack', chat: room.id, thread: root.ts }],
    [plain.slack, plain.channel, { channel: 'slack', chat: dm.channel }],
    [plain.slack, plain.channel, { channel: 'slack', chat: dm.channel, thread: dm.ts }],
  ] as const;
  for (const [index, [server, at, place]] of places.entries()) {
    const work = keptPlaceholder({ key: `work ${index}` });
    await at.status(place, { kind: 'words', markdown: `It is ${index}` }, work);
    const { id } = await work.first;
    await at.status(place, { kind: 'words', markdown: `It is ${index} so` }, work);
    await server.changes.until(({ kind, message }) => kind === 'updated' && message.ts === id);
    await at.status(place, undefined, work);
    assert.ok(server.calls.all().every(({ method }) => !/Stream$/.test(method)));
  }
});

for (const error of ['unknown_method', 'missing_scope', 'not_allowed', 'feature_not_enabled', 'ratelimited'])
  test(`H6 a stream whose start is refused (${error}) gives way to edits at once, for a while`, async (t) => {
    const clock = createManualClock(Date.now());
    const { slack, channel, place, work, show, shown, writes, own } = await asked(t, { channel: { clock } });
    const refusal =
      error === 'ratelimited'
        ? ({ kind: 'ratelimited', retryAfter: 60 } as const)
        : ({ kind: 'error', error } as const);
    slack.faults.next('chat.startStream', refusal);
    await show('It');
    await shown('It');
    await work.first;
    await show('It is');
    // Enough for the pace, and far less than a refusal is remembered.
    await clock.advance(3_000);
    await shown('It is');
    await show(undefined);
    assert.deepEqual(writes(), [`startStream ${error}`, 'postMessage', edit]);
    assert.equal(own().length, 1);
    for (const [again, first] of [
      [keptPlaceholder({ key: 'b' }), 'postMessage'],
      [keptPlaceholder({ key: 'c' }), 'startStream'],
    ] as const) {
      await channel.status(place, { kind: 'words', markdown: again.key }, again);
      await clock.advance(3_000);
      await again.first;
      await channel.status(place, undefined, again);
      assert.equal(writes().includes('startStream'), first === 'startStream');
      await clock.advance(601_000);
    }
    assert.equal(work.receipts.length, 1);
  });

test('H6 a stream that Slack has ended is gone on with by edits of the same message', async (t) => {
  const now = { ms: Date.now() };
  const { slack, channel, place, work, show, shown, own, writes } = await asked(t, {
    server: { now: () => now.ms },
  });
  await show('It');
  await shown('It');
  now.ms += 5 * 60_000 + 1;
  await show('It is');
  await shown('It is');
  await show('It is so');
  await shown('It is so');
  await show(undefined);
  await channel.edit(place, await work.first, { markdown: 'It is so.' });
  assert.deepEqual(
    own().map(({ text }) => text),
    ['It is so.'],
  );
  assert.deepEqual(writes(), [
    'startStream',
    'appendStream message_not_in_streaming_state',
    edit,
    edit,
    edit,
  ]);
  assert.equal(slack.changes.all().filter(({ kind }) => kind === 'deleted').length, 0);
});

test('H6 once a person stops a stream no more words show, and the answer still comes', async (t) => {
  const clock = createManualClock(Date.now());
  const { slack, channel, log, place, work, show, shown, own, writes } = await asked(t, {
    channel: { clock },
  });
  await show('It');
  await shown('It');
  slack.faults.next('chat.appendStream', { kind: 'error', error: 'stopped_by_user' });
  await show('It is');
  await clock.runUntil(log.until(({ fields }) => JSON.stringify(fields).includes(work.key)));
  await show('It is so');
  for (let n = 0; n < 10; n++) await clock.advance(2_000);
  await show(undefined);
  await channel.edit(place, await work.first, { markdown: 'It is so.' });
  assert.deepEqual(
    own().map(({ text }) => text),
    ['It is so.'],
  );
  assert.deepEqual(
    writes()
      .filter((write) => write !== 'stopStream')
      .slice(0, 2),
    ['startStream', 'appendStream stopped_by_user'],
  );
  assert.ok(!slack.changes.all().some(({ message }) => message.text === 'It is so'));
});

test('H6 U13 words that turn out to be no answer stop the stream: a line takes the message, later words get a new one', async (t) => {
  const { work, show, shown, own, writes } = await asked(t);
  await show('I look it up');
  await shown('I look it up');
  await work.first;
  await show({ kind: 'line', text: 'searching' });
  await shown('_searching_');
  assert.deepEqual(writes(), ['startStream', 'stopStream', edit]);
  await show('It is so');
  await shown('It is so');
  await show(undefined);
  assert.deepEqual(
    own().map(({ text }) => text),
    ['It is so'],
  );
  assert.deepEqual(work.receipts, [{ id: own()[0]?.ts }]);
  assert.deepEqual(writes().slice(3), ['delete', 'startStream', 'stopStream']);
});

test('H6 S2 words that no longer begin like those that were streamed replace them by an edit', async (t) => {
  const { show, shown, own, writes } = await asked(t);
  await show('The key is abc');
  await shown('The key is abc');
  await show('The key is [redacted].');
  await shown('The key is [redacted].');
  await show(undefined);
  assert.equal(own().length, 1);
  assert.deepEqual(writes(), ['startStream', 'stopStream', edit]);
});

test('H6 words longer than a message are gone on with by edits', async (t) => {
  const { show, shown, own, writes } = await asked(t);
  await show('word '.repeat(2000));
  await shown(`${'word '.repeat(2000)}`.trim());
  await show('word '.repeat(2300));
  await t.waitFor(() => assert.ok(own()[0]?.blocks !== undefined), { timeout: 30_000 });
  await show(undefined);
  assert.deepEqual(writes(), ['startStream', 'stopStream', edit]);
});

test('H6 H8 a stop that is limited waits, and the answer takes the message after it', async (t) => {
  const { slack, channel, place, work, show, shown, own, writes } = await asked(t);
  await show('It');
  await shown('It');
  slack.faults.next('chat.stopStream', { kind: 'ratelimited', retryAfter: 7 }, 2);
  await show(undefined);
  const answer = channel.edit(place, await work.first, { markdown: 'It is so.' });
  await assert.rejects(answer, { outcome: 'retry', retryAfterMs: 7000 });
  await channel.edit(place, await work.first, { markdown: 'It is so.' });
  assert.deepEqual(
    own().map(({ text }) => text),
    ['It is so.'],
  );
  const conflict = 'update streaming_state_conflict';
  assert.deepEqual(writes().slice(1), [
    'stopStream ratelimited',
    conflict,
    'stopStream ratelimited',
    conflict,
    'stopStream',
    edit,
  ]);
});

test('H6 H8 what is added waits while Slack limits it, and comes whole', async (t) => {
  const { slack, show, shown, own, writes } = await asked(t);
  await show('It');
  await shown('It');
  slack.faults.next('chat.appendStream', { kind: 'ratelimited', retryAfter: 1 });
  await show('It is');
  await show('It is so');
  await shown('It is so');
  await show(undefined);
  assert.equal(own().length, 1);
  assert.ok(!writes().includes(edit));
});

test('H6 what was perhaps added is not added again: an edit shows each word once', async (t) => {
  const clock = createManualClock(Date.now());
  const { slack, show, shown, own } = await asked(t, { channel: { clock } });
  await show('It');
  await shown('It');
  slack.faults.next('chat.appendStream', { kind: 'cut', when: 'after' });
  await show('It is');
  await clock.runUntil(slack.calls.until(({ answer }) => answer === 'cut'));
  await show('It is so');
  await clock.runUntil(shown('It is so'));
  await show(undefined);
  assert.equal(own().length, 1);
});

test('Q6 a stream whose start was cut off is found and becomes the answer', async (t) => {
  const { slack, channel, place, work, show, shown, own } = await asked(t);
  slack.faults.next('chat.startStream', { kind: 'cut', when: 'after' });
  await show('It');
  assert.deepEqual(await work.first, { id: own()[0]?.ts });
  await show('It is');
  await shown('It is');
  await show(undefined);
  await channel.edit(place, await work.first, { markdown: 'It is so.' });
  assert.deepEqual(
    own().map(({ text }) => text),
    ['It is so.'],
  );
});

test('Q6 an open stream is found by its placeholder alone, if it is the bot’s, unmarked and newer than the question', async (t) => {
  const { slack, channel, place, room, key, show, shown, work } = await asked(t);
  const elsewhere = { ...place, thread: slack.people.dm(slack.workspace.addUser('ben'), 'hi').ts };
  const others = [
    { user: 'U0OTHER', streaming: { expiresAt: Infinity, state: 'in_progress' as const } },
    { user: slack.workspace.bot.user },
  ];
  for (const other of others) {
    const ts = slack.workspace.nextTs();
    room.messages.push({
      channel: room.id,
      ts,
      threadTs: place.thread,
      text: 'x',
      edited: undefined,
      deleted: false,
      ...other,
    });
  }
  assert.equal(await channel.find(place, key), undefined);
  await show('It');
  await shown('It');
  const { id } = await work.first;
  assert.deepEqual(await channel.find(place, key), { id });
  const later = key.replace(place.thread, `${Number(id.split('.')[0]) + 1}.000001`);
  const none = [
    [place, key.replace('!status', '')],
    [place, later],
    [place, key.replace('slack:', 'slack:T0OTHER')],
    [{ channel: 'slack', chat: place.chat }, key],
    [elsewhere, key],
  ] as const;
  for (const [where, what] of none) assert.equal(await channel.find(where, what), undefined, what);
  await show(undefined);
  assert.deepEqual(await channel.find(place, key), { id });
  assert.equal(await channel.find(place, key.replace('#0!', '#1!')), undefined);
  await channel.edit(place, { id }, { markdown: 'It is so.' });
  assert.equal(await channel.find(place, key.replace(/\.\d+#/, '.0#')), undefined);
});

test('Q6 an open stream of a process before can be changed and removed', async (t) => {
  const { slack, channel, place, shown, own, writes } = await asked(t);
  const started = async () => {
    const args = { channel: place.chat, thread_ts: place.thread, markdown_text: 'It' };
    const body = new URLSearchParams({ ...args, token: slack.tokens.bot });
    const answer = await fetch(`${slack.url}chat.startStream`, { method: 'POST', body });
    return { id: String(((await answer.json()) as { ts: string }).ts) };
  };
  const first = await started();
  const work = keptPlaceholder({ stored: first });
  await channel.status(place, { kind: 'words', markdown: 'It is' }, work);
  await shown('It is');
  await channel.status(place, undefined, work);
  await channel.remove(place, first);
  await channel.remove(place, await started());
  assert.deepEqual(own(), []);
  assert.deepEqual(writes().slice(1, 4), ['update streaming_state_conflict', 'stopStream', edit]);
});

test('H7 stopping ends the stream, and leaves its message for the answer', async (t) => {
  const { channel, show, shown, own } = await asked(t);
  await show('It');
  await shown('It');
  await channel.stop();
  assert.deepEqual(
    own().map(({ text, streaming }) => [text, streaming?.state]),
    [['It', 'completed']],
  );
});

test('H8 the starts of streams leave room for their stops', async (t) => {
  const clock = createManualClock(Date.now());
  const { channel, place, writes, slack } = await asked(t, { channel: { clock, paced: true } });
  for (let n = 0; n < 40; n++) {
    const work = keptPlaceholder({ key: `work ${n}` });
    await channel.status(place, { kind: 'words', markdown: `It is ${n}` }, work);
    await clock.runUntil(work.first);
    await channel.status(place, undefined, work);
    await clock.advance(1000);
  }
  const starts = writes().filter((write) => write === 'startStream').length;
  assert.ok(starts >= 10 && starts <= 15, `${starts} starts in 40 s`);
  assert.equal(writes().filter((write) => write === 'stopStream').length, starts);
  assert.equal(
    slack.calls.all().some(({ answer }) => answer === 429),
    false,
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runIdOf, runJournal } from '../../src/runs/run-journal.ts';
import { invocationId } from '../../src/agent/models/anthropic-request.ts';
import { hasProgressed } from '../../src/conversations/has-progressed.ts';
import type { InboxItem } from '../../src/store/inbox.ts';
import { createChatMigrations } from '../../src/access/chat-migrations.ts';
import { taskKey } from '../../src/runs/tasks.ts';
import { interrupted } from '../../src/core/tool-call.ts';
import type { Entry } from '../../src/core/entry.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';

/** A message that somebody works on. */
async function taken() {
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const migrations = createChatMigrations({ stored: store.keyed('moved'), signals: store.signals, clock });
  const progressed = (item: InboxItem, at: number) => hasProgressed(item, at, { store, migrations });
  const message = makeMessage();
  await store.inbox.accept(message, { now: clock.now() });
  const item = await store.inbox.take('telegram:42', clock.now());
  assert.ok(item !== undefined);
  return { clock, store, message, item, progressed };
}

test('Q3 a try that got further is seen in the conversation and in the journal of the run that a person began', async () => {
  const { clock, store, message, item, progressed } = await taken();
  const began = clock.now();
  await clock.advance(10);
  const write = (transcript: string, entry: Entry): Promise<void> =>
    store.commit({ entries: [{ transcript, entry }] });
  await write('telegram:42', { kind: 'user', item: message.id, content: 'hello', at: clock.now() });
  assert.equal(await progressed(item, began), false, 'the message itself is no progress');
  await write(runJournal('telegram:42', runIdOf('telegram:42', invocationId(message.id))), {
    kind: 'user',
    content: 'x',
    at: clock.now(),
  });
  assert.equal(await progressed(item, began), true);
  assert.equal(await progressed(item, clock.now()), false);
  await clock.advance(10);
  await write('telegram:42', { kind: 'notice', text: 'x', at: clock.now() });
  assert.equal(await progressed(item, clock.now() - 1), true);
});

test('Q3 what waits for its run is not given up for it: the run has tries of its own', async () => {
  const { clock, store, message, item, progressed } = await taken();
  assert.equal(await progressed(item, clock.now()), false);
  const run = taskKey(runIdOf('telegram:42', invocationId(message.id)));
  await store.addWork({ queue: 'telegram:42~run', message: { ...message, id: run } }, () => undefined);
  assert.equal(await progressed(item, clock.now()), true);
  await store.commit({ done: run });
  assert.equal(await progressed(item, clock.now()), false);
});

test('Q3 S15 a call that was cut off, and an answer that only began it, are no progress; a result is', async () => {
  const { clock, store, message, progressed, item } = await taken();
  const began = clock.now();
  await clock.advance(10);
  const at = clock.now();
  const write = (entry: Entry): Promise<void> =>
    store.commit({ entries: [{ transcript: 'telegram:42', entry }] });
  await write({ kind: 'user', item: message.id, content: 'hello', at });
  await write({
    kind: 'assistant',
    content: [{ type: 'tool_use', id: 'toolu_1', name: 'roll', input: {}, caller: { type: 'direct' } }],
    stopReason: 'tool_use',
    tokens: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
    model: 'scripted',
    at,
  });
  await write({ kind: 'tool_started', toolUseId: 'toolu_1', at });
  assert.equal(await progressed(item, began), false);
  await write({ kind: 'tool_result', toolUseId: 'toolu_1', content: interrupted, isError: true, at });
  assert.equal(await progressed(item, began), false);
  await write({ kind: 'tool_result', toolUseId: 'toolu_2', content: 'six', isError: false, at });
  assert.equal(await progressed(item, began), true);
});

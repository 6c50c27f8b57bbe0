import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { z } from 'zod';
import { createForgetSomebody } from '../../src/operator/forget-somebody.ts';
import { createChatMigrations } from '../../src/access/chat-migrations.ts';
import { createAudit } from '../../src/audit/create-audit.ts';
import { createPairing } from '../../src/access/pairing.ts';
import { createAnsweredThreads, createThreadPartners } from '../../src/replies/threads.ts';
import { createUsers } from '../../src/access/users.ts';
import { createChatSettings } from '../../src/tools/settings/chat-settings.ts';
import { createStandingRules } from '../../src/features/approvals/standing-rules.ts';
import type { AccessSettings } from '../../src/core/access-settings.ts';
import { conversationKey, type Conversation } from '../../src/core/conversation.ts';
import type { Message } from '../../src/core/message.ts';
import { toolSettings } from '../../src/core/tool-settings.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import { partOf } from '../support/app-of.ts';

const [ann, bob] = ['slack:U1', 'slack:U2'];
const placeOf = (sender: string): Conversation => ({
  channel: 'slack',
  chat: sender.replace('slack:U', 'D'),
});
const weather = { name: 'weather', settings: toolSettings(z.object({ days: z.int().default(3) })) };
const [days] = weather.settings.fields;
assert.ok(days !== undefined);

function said(sender: string, more: Partial<Message> = {}): Message {
  return makeMessage({
    id: `${sender}:1`,
    conversation: placeOf(sender),
    sender: { id: sender, name: 'N', kind: 'person' },
    ...more,
  });
}

/** Both have a setting that an operator made, so that only the place is theirs. */
async function stage(t: TestContext) {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'skillet-forget-'));
  const clock = createManualClock();
  const log = quietLog();
  const store = await openStore('sqlite::memory:', { clock });
  t.after(async () => {
    await store.close();
    await rm(dataDir, { recursive: true });
  });
  const access: AccessSettings = {
    owners: [],
    general: { dm: 'pairing' },
    channels: new Map([['slack', { groupUsers: [bob] }]]),
    chats: new Map(),
    allowExternal: false,
  };
  const migrations = createChatMigrations({ stored: store.keyed('moved'), signals: store.signals, clock });
  const users = createUsers({ stored: store.keyed('people'), access: () => access, migrations });
  const audit = createAudit({ dataDir, keyed: store.keyed, clock, log });
  const pairing = createPairing({ stored: store.keyed('pairing'), users, audit, clock });
  const settings = createChatSettings({ store, migrations, log });
  const files: unknown[] = [];
  const forget = createForgetSomebody({
    store,
    kept: {
      users,
      pairing,
      partners: createThreadPartners(store),
      features: [createStandingRules({ stored: store.keyed('rules'), audit })],
      settings,
      files: partOf({ forget: async (gone) => files.push(gone) }),
    },
    access: () => access,
    audit,
    waitMs: 0,
    clock,
    log,
  });
  for (const sender of [ann, bob]) await settings.set(placeOf(sender), 'weather', days!, 9);
  return {
    store,
    clock,
    audit,
    pairing,
    files,
    forget,
    setOf: (of: string) => settings.of(placeOf(of), weather),
  };
}

/** What the audit tells of somebody who was refused, or answered. */
function heard(sender: string, conversation: Conversation, chatType = 'private') {
  return {
    event: 'message_refused',
    sender,
    conversation: conversationKey(conversation),
    chatType,
    code: 'STRANGER',
  } as const;
}

test('Q12 S11 L6 where somebody’s direct messages are is forgotten with them: in the audit, in settings, among who asked to talk', async (t) => {
  const { store, audit, pairing, files, forget, setOf } = await stage(t);
  for (const sender of [ann, bob]) {
    const message = said(sender);
    const entry = { kind: 'user', item: message.id, sender, content: 'hello', at: 1 } as const;
    await store.commit({ entries: [{ transcript: conversationKey(message.conversation), entry }] });
    await pairing.request(message);
    await audit.record(heard(sender, message.conversation));
  }
  const { forgotten, known, inConfig } = await forget(ann);
  assert.deepEqual([forgotten, known, inConfig], [ann, true, false]);
  assert.deepEqual(files, [{ sender: ann, places: ['slack:D1', 'slack:U1'], files: [] }]);
  assert.deepEqual(
    (await pairing.pending()).map(({ sender }) => sender),
    [bob],
  );
  assert.deepEqual([await setOf(ann), await setOf(bob)], [{}, { days: 9 }]);
  const told = (await audit.tail(9)).join('\n');
  assert.doesNotMatch(told, /slack:[UD]1/);
  assert.match(told, /slack:U2.*slack:D2/);
  assert.match(told, /"event":"forgotten"/);
  assert.deepEqual((await audit.verify()).problems, []);
  assert.equal((await forget(bob)).inConfig, true);
  assert.equal((await forget(bob)).known, false, 'nothing is left of them');
});

type Stage = Awaited<ReturnType<typeof stage>>;

/** Each leaves no transcript. The place is told by one thing alone. */
const traces: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = {
  'a stranger who was refused': ({ audit }) => audit.record(heard(ann, placeOf(ann))),
  'a stranger who was refused in a thread': ({ audit }) =>
    audit.record(heard(ann, { ...placeOf(ann), thread: '1.2' })),
  'a message that waits': ({ store, clock }) => store.inbox.accept(said(ann), { now: clock.now() }),
  'a message that waits in a thread': ({ store, clock }) =>
    store.inbox.accept(said(ann, { conversation: { ...placeOf(ann), thread: '1.2' } }), { now: clock.now() }),
  'a message that was given up': async ({ store, clock }) => {
    const message = said(ann);
    await store.inbox.accept(message, { now: clock.now() });
    await store.inbox.take(conversationKey(message.conversation), clock.now());
    await store.inbox.fail(message.id, 'no', undefined);
  },
  'a pairing code': ({ pairing }) => pairing.request(said(ann)),
};

for (const [trace, leave] of Object.entries(traces))
  test(`Q12 L6 X3 the place of somebody’s direct messages is forgotten without a transcript: ${trace}`, async (t) => {
    const made = await stage(t);
    const { store, audit, files, forget, setOf } = made;
    await leave(made);
    // Says nothing of whose they are.
    const by = { event: 'setting_changed', verdict: 'set', tool: 'weather', key: 'days', by: bob } as const;
    for (const thread of [undefined, '3.4'])
      await audit.record({ ...by, conversation: conversationKey({ ...placeOf(ann), thread }) });
    const part = { markdown: 'Your code is ABC' };
    for (const sender of [ann, bob])
      await store.commit({ outbox: [{ key: `told:${sender}`, conversation: placeOf(sender), part }] });
    const { removed } = await forget(ann);
    assert.deepEqual(files, [{ sender: ann, places: ['slack:D1', 'slack:U1'], files: [] }]);
    assert.deepEqual([await setOf(ann), await setOf(bob)], [{}, { days: 9 }]);
    assert.equal(removed.outbox, 1);
    const told = (await audit.tail(9)).join('\n');
    assert.doesNotMatch(told, /slack:[UD]1/);
    assert.match(told, /"by":"slack:U2"/);
  });

test('Q12 a place where others were heard, or that is no direct message, stays when one of them is forgotten', async (t) => {
  const { store, clock, audit, files, forget, setOf } = await stage(t);
  const room: Conversation = { channel: 'slack', chat: 'C1' };
  await audit.record(heard(ann, room, 'group'));
  await audit.record(heard(bob, placeOf(bob)));
  await audit.record(heard(ann, { ...placeOf(bob), thread: '1.2' }));
  const named = said(ann, { id: 'slack:C1:1', conversation: room, chatType: 'group' });
  // Theirs by config alone; it speaks in the chat that the config names.
  const task = { kind: 'routine', id: 'r', name: 'news', due: 1, request: 'news' } as const;
  const fired = said(ann, { id: 'routine:r:1', conversation: { channel: 'slack', chat: 'D3' }, task });
  for (const message of [named, fired]) await store.inbox.accept(message, { now: clock.now() });
  await forget(ann);
  assert.deepEqual(files, [{ sender: ann, places: ['slack:U1'], files: [] }]);
  assert.deepEqual(await setOf(bob), { days: 9 });
  assert.match((await audit.tail(9)).join('\n'), /slack:C1.*\n.*slack:U2.*slack:D2.*\n.*slack:D2\/1\.2/);
});

test('Q12 H11 no thread remembers somebody forgotten, and where they were in private no thread is remembered', async (t) => {
  const { store, audit, forget } = await stage(t);
  const threads = createAnsweredThreads(store);
  const partners = createThreadPartners(store);
  const threadOf = (chat: string): Conversation => ({ channel: 'slack', chat, thread: '1.2' });
  await audit.record(heard(ann, placeOf(ann)));
  for (const chat of ['D1', 'D2', 'C1']) await threads.add(said(bob, { conversation: threadOf(chat) }));
  await partners.set(threadOf('C1'), ann);
  await partners.set(threadOf('C2'), bob);
  await forget(ann);
  assert.deepEqual(await Promise.all(['D1', 'D2', 'C1'].map((chat) => threads.has(threadOf(chat)))), [
    false,
    true,
    true,
  ]);
  assert.deepEqual(
    [await partners.get(threadOf('C1')), await partners.get(threadOf('C2'))],
    [undefined, bob],
  );
});

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import { createForgetSomebody } from '../../src/operator/forget-somebody.ts';
import { createChatMigrations } from '../../src/access/chat-migrations.ts';
import { createAudit } from '../../src/audit/create-audit.ts';
import { createPairing } from '../../src/access/pairing.ts';
import { createUsers } from '../../src/access/users.ts';
import { createChatSettings } from '../../src/settings/chat-settings.ts';
import { createWrittenSkills } from '../../src/skills/written-skills.ts';
import { createStandingRules } from '../../src/approvals/standing-rules.ts';
import type { AccessSettings } from '../../src/core/access-settings.ts';
import { conversationKey } from '../../src/core/conversation.ts';
import { toolSettings } from '../../src/core/tool-settings.ts';
import { openStore } from '../../src/store/open-store.ts';
import { capabilityStage } from '../support/capability-stage.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';

const bob = { id: 'telegram:7', name: 'Bob', kind: 'person' } as const;

test('Q12 what nobody ends in time keeps a person from being forgotten, and the operator is told of both ways on', async () => {
  const recorded: string[] = [];
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  await store.inbox.accept(makeMessage(), { now: clock.now() });
  // Taken by a process that has died since.
  await store.inbox.take('telegram:42', clock.now());
  const theirs = makeMessage({ id: 'telegram:42:2', text: 'and this' });
  const others = makeMessage({
    id: 'telegram:7:1',
    conversation: { channel: 'telegram', chat: '7' },
    sender: bob,
  });
  for (const message of [theirs, others]) await store.inbox.accept(message, { now: clock.now() });
  const forget = createForgetSomebody({
    store,
    kept: {
      users: { forget: async () => false },
      pairing: { forget: async () => false },
      rules: { forget: async () => undefined },
      approvals: { forget: async () => undefined },
      capabilities: store.capabilities,
      settings: { forget: async () => undefined },
      files: { forget: async () => 0 },
    },
    access: () => ({
      owners: [],
      general: {},
      channels: new Map(),
      chats: new Map(),
      allowExternal: false,
    }),
    audit: { record: async ({ event }) => void recorded.push(event), forget: async () => undefined },
    waitMs: 15_000,
    clock,
    log: quietLog(),
  });
  await assert.rejects(
    clock.runUntil(forget('telegram:42')),
    /still being answered .* try again in a moment\. If no bot runs on this store any more, start one first/,
  );
  const left = (await store.inbox.list('waiting')).map(({ key }) => key);
  assert.deepEqual(left, ['telegram:42:1', others.id], 'what had not begun ends, all else stays');
  assert.deepEqual(recorded, [], 'it was written down as done');
});

test('Q12 S11 who is forgotten is a stranger, and no rule and no account of theirs is left', async (t) => {
  const stage = await capabilityStage(t);
  const { store, clock, log } = stage;
  await stage.link('work');
  const sender = 'telegram:42';
  const access: AccessSettings = {
    owners: [],
    general: { dm: 'pairing' },
    channels: new Map(),
    chats: new Map(),
    allowExternal: false,
  };
  const moved = createChatMigrations({ stored: store.keyed('moved'), signals: store.signals, clock });
  const people = createUsers({ stored: store.keyed('people'), access: () => access, migrations: moved });
  const audit = { record: async () => undefined, forget: async () => undefined };
  const pairing = createPairing({ stored: store.keyed('pairing'), users: people, audit, clock });
  const rules = createStandingRules({ stored: store.keyed('rules'), audit });
  await people.pair({ sender, name: 'Ann', since: 1 });
  const rule = { tool: 'skills_run_script', skill: 'dice', chat: sender, sender };
  await rules.add(rule, sender, clock.now());
  const written = createWrittenSkills(store);
  const { conversation, chatType, external, sender: asker } = makeMessage();
  await written.askers.set('greet', { conversation, chatType, external, sender: asker });
  const forget = createForgetSomebody({
    store,
    kept: {
      users: people,
      pairing,
      rules,
      approvals: written.askers,
      capabilities: stage.records,
      settings: { forget: async () => undefined },
      files: { forget: async () => 0 },
    },
    access: () => access,
    audit,
    waitMs: 0,
    clock,
    log,
  });
  const { known, removed } = await forget(sender);
  assert.deepEqual([known, removed.accounts], [true, 1]);
  assert.equal((await people.decide(makeMessage())).allowed, false);
  assert.equal(await rules.covers(rule), false);
  assert.equal(await written.askers.take('greet'), undefined, 'they wait for no skill any more');
  assert.deepEqual(await stage.accounts.list({ sender }), []);
});

test('Q12 S11 L6 where somebody’s direct messages are is forgotten with them: in the audit, in settings, among who asked to talk', async (t) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'skillet-forget-'));
  const clock = createManualClock();
  const log = quietLog();
  const store = await openStore('sqlite::memory:', { clock });
  t.after(async () => {
    await store.close();
    await rm(dataDir, { recursive: true });
  });
  const [ann, bob] = ['slack:U1', 'slack:U2'];
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
      rules: createStandingRules({ stored: store.keyed('rules'), audit }),
      approvals: { forget: async () => undefined },
      capabilities: store.capabilities,
      settings,
      files: { forget: async (gone) => files.push(gone) },
    },
    access: () => access,
    audit,
    waitMs: 0,
    clock,
    log,
  });
  const weather = { name: 'weather', settings: toolSettings(z.object({ days: z.int().default(3) })) };
  const [days] = weather.settings.fields;
  assert.ok(days !== undefined);
  const placeOf = (sender: string) => ({ channel: 'slack', chat: sender.replace('slack:U', 'D') });
  for (const sender of [ann, bob]) {
    const conversation = placeOf(sender);
    const message = makeMessage({
      id: `${sender}:1`,
      conversation,
      sender: { id: sender, name: 'N', kind: 'person' },
    });
    const entry = { kind: 'user', item: message.id, sender, content: 'hello', at: 1 } as const;
    await store.commit({ entries: [{ transcript: conversationKey(conversation), entry }] });
    await pairing.request(message);
    // By an operator, so only the place is the person’s.
    await settings.set(conversation, 'weather', days, 9);
    await audit.record({
      event: 'message_refused',
      sender,
      conversation: `slack:${conversation.chat}`,
      chatType: 'private',
      code: 'STRANGER',
    });
  }
  const { forgotten, known, inConfig } = await forget(ann);
  assert.deepEqual([forgotten, known, inConfig], [ann, true, false]);
  assert.deepEqual(files, [{ sender: ann, places: ['slack:D1', 'slack:U1'], files: [] }]);
  assert.deepEqual(
    (await pairing.pending()).map(({ sender }) => sender),
    [bob],
  );
  assert.deepEqual(
    [await settings.of(placeOf(ann), weather), await settings.of(placeOf(bob), weather)],
    [{}, { days: 9 }],
  );
  const told = (await audit.tail(9)).join('\n');
  assert.doesNotMatch(told, /slack:[UD]1/);
  assert.match(told, /slack:U2.*slack:D2/);
  assert.match(told, /"event":"forgotten"/);
  assert.deepEqual((await audit.verify()).problems, []);
  assert.equal((await forget(bob)).inConfig, true);
  assert.equal((await forget(bob)).known, false, 'nothing is left of them');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createForgetSomebody } from '../../src/operator/forget-somebody.ts';
import { createChatMigrations } from '../../src/access/chat-migrations.ts';
import { createPairing } from '../../src/access/pairing.ts';
import { createUsers } from '../../src/access/users.ts';
import { createWrittenSkills } from '../../src/skills/written-skills.ts';
import { createStandingRules } from '../../src/features/approvals/standing-rules.ts';
import type { AccessSettings } from '../../src/core/access-settings.ts';
import { openStore } from '../../src/store/open-store.ts';
import { partOf } from '../support/app-of.ts';
import { capabilityStage } from '../support/capability-stage.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';
import type { Audit } from '../../src/audit/create-audit.ts';

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
      users: partOf({ forget: async () => false }),
      pairing: partOf({ pending: async () => [], forget: async () => false }),
      partners: { forget: async () => undefined },
      features: [],
      settings: partOf({ forget: async () => undefined }),
      files: partOf({ forget: async () => 0 }),
    },
    access: () => ({
      owners: [],
      general: {},
      channels: new Map(),
      chats: new Map(),
      allowExternal: false,
    }),
    audit: partOf({
      record: async ({ event }) => void recorded.push(event),
      meetings: async () => [],
      forget: async () => undefined,
    }),
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
  const audit = partOf<Audit>({
    record: async () => undefined,
    meetings: async () => [],
    forget: async () => undefined,
  });
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
      partners: { forget: async () => undefined },
      features: [
        rules,
        written.askers,
        { forget: async (who) => ({ accounts: await stage.records.forget(who) }) },
      ],
      settings: partOf({ forget: async () => undefined }),
      files: partOf({ forget: async () => 0 }),
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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createForgetSomebody } from '../../src/app/forget-somebody.ts';
import { openStore } from '../../src/stores/open-store.ts';
import { makeMessage } from '../support/make-message.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';

test('Q12 what nobody ends in time keeps a person from being forgotten, and the operator is told of both ways on', async () => {
  const recorded: string[] = [];
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  await store.inbox.accept(makeMessage(), { now: clock.now() });
  // Taken by a process that has died since.
  await store.inbox.take('telegram:42', clock.now());
  const forget = createForgetSomebody({
    store,
    people: { forget: async () => false },
    pairing: { forget: async () => false },
    rules: { forget: async () => undefined },
    capabilities: store.capabilities,
    settings: { forget: async () => undefined },
    files: { forget: async () => 0 },
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
  assert.equal((await store.inbox.list('waiting')).length, 1, 'something was removed after all');
  assert.deepEqual(recorded, [], 'it was written down as done');
});

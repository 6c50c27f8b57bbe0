import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { parseConfig } from '../../../src/config/parse-config.ts';
import type { Memory } from '../../../src/core/memory.ts';
import {
  holderIn,
  managesMemory,
  memoriesOf,
  memorySwitch,
  openMemory,
  type Asker,
  type MemoryDeps,
} from '../../../src/features/memory/open-memory.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { partOf } from '../../support/app-of.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const group: Asker = {
  conversation: { channel: 'slack', chat: 'C1', thread: '1.2' },
  chatType: 'group',
  external: false,
  sender: { id: 'slack:U1' },
};
const direct: Asker = { ...group, conversation: { channel: 'slack', chat: 'D1' }, chatType: 'private' };

/** A note of U1 in C1, under its id. */
const note = (id: string, more: Partial<Memory>): Memory => ({
  ...{ id, text: id, scope: 'chat', author: 'slack:U1', authorName: 'Ann', chat: 'slack:C1' },
  ...{ isPrivate: false, isApproved: false, at: 1 },
  ...more,
});
const notes: readonly Memory[] = [
  note('chat', { at: 5 }),
  note('chat of U2', { author: 'slack:U2', at: 4 }),
  note('said in private', { isPrivate: true, at: 6 }),
  note('chat C2', { chat: 'slack:C2' }),
  note('person', { scope: 'person', chat: 'slack:D1' }),
  note('person U2', { scope: 'person', author: 'slack:U2', chat: 'slack:D2' }),
  note('team', { scope: 'team', author: 'slack:U2', isApproved: true, at: 3 }),
  note('team, not agreed', { scope: 'team', author: 'slack:U2', at: 2 }),
];

async function stage(
  t: TestContext,
  { config = '', values = {}, owner = '', chat = 'C1' } = {},
): Promise<MemoryDeps> {
  const parsed = parseConfig(config, { env: {} });
  assert.ok(parsed.ok);
  const store = await openStore('sqlite::memory:');
  t.after(() => store.close());
  for (const one of notes) await store.memories.add(one, 100);
  return {
    runtime: () => partOf(parsed),
    store,
    migrations: partOf({ original: async (place) => (place.chat === 'C1' ? { ...place, chat } : place) }),
    accessOf: async ({ chatType, external, sender }) => ({
      ...{ by: 'person', sender: sender.id, chatType, external, chatIds: ['slack:C9', 'slack:C1'] },
    }),
    users: partOf({ isOwner: async (id) => id === owner }),
    settings: {
      forCall: (conversation) => async (tool) =>
        conversation.chat === 'C1' && tool.name === 'remember' ? values : {},
    },
    audit: { record: async () => undefined },
    clock: createManualClock(1),
  };
}

test('K1 K2 A6 notes are used as the chat and the person say, under the first id of the chat', async (t) => {
  const deps = await stage(t, { chat: 'C0' });
  const use = {
    ...{ what: 'show', isOn: true, chatType: 'group', chatIds: ['slack:C9', 'slack:C1'], external: false },
    ...{ ephemeral: false, sender: 'slack:U1', manages: false },
  };
  const opened = async (asker: Asker) => {
    const found = await openMemory(asker, deps);
    return found && { use: found.use, chat: found.chat, holders: found.holders };
  };
  const holders = ['chat slack:C0', 'team'];
  assert.deepEqual(await opened(group), { use, chat: 'slack:C0', holders });
  const privately = await opened({ ...group, ephemeral: true });
  assert.deepEqual(privately, { use: { ...use, ephemeral: true }, chat: 'slack:C0', holders });
  assert.deepEqual(await opened(direct), {
    use: { ...use, chatType: 'private' },
    chat: 'slack:D1',
    holders: ['person slack:U1', 'team'],
  });
});

test('K2 notes of the team are looked up only where nobody from outside reads along', async (t) => {
  const deps = await stage(t);
  // One that lost the field, too.
  for (const external of [true, undefined as never])
    assert.deepEqual((await openMemory({ ...group, external }, deps))?.holders, ['chat slack:C1']);
});

test('K1 K3 K6 nothing is kept and found where memory is off, by the config or in the chat', async (t) => {
  for (const [options, isOn] of [
    [{}, true],
    [{ values: { on: true } }, true],
    [{ values: { on: false } }, false],
    [{ values: { on: 'yes' } }, false],
    [{ config: '[memory]\nenabled = true\n' }, true],
    [{ config: '[memory]\nenabled = false\n' }, false],
  ] as const)
    assert.equal(
      (await openMemory(group, await stage(t, options))) !== undefined,
      isOn,
      JSON.stringify(options),
    );
  // The switch of one chat is that of no other.
  assert.ok((await openMemory(direct, await stage(t, { values: { on: false } }))) !== undefined);
  assert.equal(memorySwitch.name, 'remember');
  assert.deepEqual(
    memorySwitch.settings?.fields.map(({ key, kind, default: value, title }) => [key, kind, value, title]),
    [['on', 'boolean', true, 'Memory']],
  );
});

test('K1 A3 in a chat of unknown kind nothing is kept and nothing is found', async (t) => {
  assert.equal(await openMemory({ ...group, chatType: 'unknown' }, await stage(t)), undefined);
  const kinds = ['private', 'group', 'channel', 'unknown', '', undefined];
  assert.deepEqual(
    kinds.map((chatType) => holderIn({ chatType, sender: 'slack:U1' } as never, 'slack:C1')),
    ['person slack:U1', 'chat slack:C1', 'chat slack:C1', undefined, undefined, undefined],
  );
  assert.equal(holderIn({ chatType: 'private', sender: '' }, 'slack:D1'), undefined);
});

test('K1 K2 K4 only notes that may be shown here are seen, newest first and as many as are wanted', async (t) => {
  const deps = await stage(t);
  const seen = async (asker: Asker, limit = 100) =>
    (await (await openMemory(asker, deps))?.visible(limit))?.map(({ id }) => id);
  assert.deepEqual(await seen(group), ['chat', 'chat of U2', 'team']);
  assert.deepEqual(await seen(group, 2), ['chat']);
  assert.deepEqual(await seen({ ...group, external: true }), ['chat', 'chat of U2']);
  assert.deepEqual(await seen(direct), ['team', 'person']);
});

test('K1 K3 a note is removed by who had it noted, and by who manages memory where it is shown', async (t) => {
  const approvers = '[policy]\napprovers = ["slack:U9"]\n';
  for (const [asker, options, removed] of [
    [group, {}, ['chat', 'said in private', 'chat C2', 'person']],
    [{ ...group, sender: { id: 'slack:U8' } }, {}, []],
    [{ ...group, sender: { id: 'slack:U8' } }, { owner: 'slack:U8' }, ['chat', 'chat of U2', 'team']],
    [{ ...group, sender: { id: 'slack:U9' } }, { config: approvers }, ['chat', 'chat of U2', 'team']],
    [{ ...direct, sender: { id: 'slack:U9' } }, { config: approvers }, ['team']],
  ] as const) {
    const memory = await openMemory(asker, await stage(t, options));
    const found: string[] = [];
    for (const { id } of notes) {
      const one = await memory?.removable(id);
      if (one === undefined) continue;
      assert.deepEqual(
        one,
        notes.find((each) => each.id === id),
      );
      found.push(id);
    }
    assert.deepEqual(found, removed, asker.sender.id);
    assert.equal(await memory?.removable('none'), undefined);
  }
});

test('K1 owners and approvers manage memory, nobody else does', async (t) => {
  const deps = await stage(t, { config: '[policy]\napprovers = ["slack:U9"]\n', owner: 'slack:U8' });
  const manages = (sender: string) => managesMemory(sender, deps);
  assert.deepEqual(await Promise.all(['slack:U9', 'slack:U8', 'slack:U7', ''].map(manages)), [
    ...[true, true, false, false],
  ]);
});

test('K1 K6 operators list what a person had noted in every chat, and nothing of others', async (t) => {
  const { store } = await stage(t);
  const listed = async (person: string, from = store) => (await memoriesOf(person, from)).map(({ id }) => id);
  assert.deepEqual(await listed('slack:U1'), ['chat', 'said in private', 'chat C2', 'person']);
  assert.deepEqual(await listed('slack:U3'), []);
  // Whatever the store answers, the one decision is asked.
  const careless = { ...store, memories: { ...store.memories, by: async () => notes } };
  assert.deepEqual(await listed('slack:U1', careless), ['chat', 'said in private', 'chat C2', 'person']);
  assert.deepEqual(await listed('', careless), []);
});

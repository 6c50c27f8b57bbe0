import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Memory, MemoryUse } from '../../../src/core/memory.ts';
import { decideMemory } from '../../../src/features/memory/decide-memory.ts';
import { walkProduct } from '../../support/walk-product.ts';

type Judged = Parameters<typeof decideMemory>[0];

const ada = 'telegram:42';
const bob = 'telegram:421';
const group = 'telegram:-100';
const none = undefined as unknown as boolean;

const memory: Judged = {
  scope: 'chat',
  author: ada,
  chat: group,
  isPrivate: false,
  isApproved: false,
};
const use: MemoryUse = {
  what: 'show',
  isOn: true,
  chatType: 'group',
  chatIds: [group],
  external: false,
  ephemeral: false,
  sender: bob,
  manages: false,
};

function may(change: Partial<Judged>, how: Partial<MemoryUse> = {}): boolean {
  return decideMemory({ ...memory, ...change }, { ...use, ...how }).allowed;
}

/** Everything the decision looks at, values that nothing should ever hold included. */
const lists = {
  scope: ['person', 'chat', 'team', 'world' as Memory['scope']],
  author: [ada, bob, ''],
  chat: [group, 'telegram:-7', ada],
  isPrivate: [false, true, none],
  isApproved: [true, false, none],
  taint: [undefined, 'gmail', true] as Memory['taint'][],
  what: ['show', 'write', 'forget', 'list', 'guess' as MemoryUse['what']],
  isOn: [true, false, none],
  chatType: ['private', 'group', 'channel', 'unknown', 'supergroup' as MemoryUse['chatType']],
  chatIds: [[group], [ada], ['telegram:-7', group], []],
  external: [false, true, none],
  ephemeral: [false, true, none],
  sender: [ada, bob, ''],
  manages: [false, true, none],
} as const;

test('K1 K2 over the whole product: a memory reaches nobody but those its scope names', () => {
  let shown = 0;
  const cases = walkProduct<Record<string, unknown>>(lists, (one) => {
    const of = one as unknown as Judged & MemoryUse;
    if (!decideMemory(of, of).allowed) return;
    shown += 1;
    const why = JSON.stringify(of);
    const isTheirs = of.author === of.sender && of.sender !== '';
    const isRoom = of.chatType === 'group' || of.chatType === 'channel';
    if (of.what === 'list' || (of.what === 'forget' && isTheirs)) return assert.ok(isTheirs, why);
    assert.ok(['show', 'write', 'forget'].includes(of.what), why);
    if (of.what === 'forget') assert.equal(of.manages, true, why);
    else assert.equal(of.isOn, true, why);
    if (of.what === 'write') assert.ok(isTheirs, why);
    assert.ok(isRoom || of.chatType === 'private', why);
    if (of.scope === 'person')
      return assert.ok(isTheirs && (of.chatType === 'private' || of.what === 'write'), why);
    assert.equal(of.isPrivate, false, why);
    assert.equal(of.taint, undefined, why);
    if (of.what === 'write') assert.ok(isRoom && of.ephemeral === false, why);
    if (of.scope === 'chat') return assert.ok(isRoom && of.chatIds.includes(of.chat), why);
    assert.equal(of.scope, 'team', why);
    assert.equal(of.external, false, why);
    if (of.what !== 'write') assert.equal(of.isApproved, true, why);
  });
  assert.ok(cases > 5_000_000 && shown > 10_000, `${shown} of ${cases}`);
});

test('K1 a memory is shown where its scope says', () => {
  const direct = { chatType: 'private', chatIds: [ada], sender: ada } as const;
  assert.ok(may({ scope: 'person', isPrivate: true, taint: 'gmail' }, direct));
  assert.ok(may({ scope: 'chat' }));
  assert.ok(may({ scope: 'chat' }, { chatIds: ['telegram:-1009', group] }), 'its group has a new id');
  assert.ok(may({ scope: 'team', isApproved: true }));
  assert.ok(may({ scope: 'team', isApproved: true }, { ...direct, sender: bob }));
});

test('K2 what was said in private, or is marked, is noted for the person alone', () => {
  const writes = { what: 'write', sender: ada } as const;
  for (const scope of ['person', 'chat', 'team'] as const) assert.ok(may({ scope }, writes), scope);
  for (const scope of ['chat', 'team'] as const) {
    assert.ok(!may({ scope }, { ...writes, chatType: 'private', chatIds: [ada, group] }), scope);
    assert.ok(!may({ scope, isPrivate: true }, writes), scope);
    assert.ok(!may({ scope, taint: 'gmail' }, writes), scope);
    assert.ok(!may({ scope }, { ...writes, ephemeral: true }), scope);
  }
  assert.ok(may({ scope: 'person', taint: 'gmail', isPrivate: true }, writes));
  assert.ok(!may({ scope: 'team' }, { ...writes, external: true }), 'others read along');
});

test('K3 who had it noted removes it anywhere, an owner or approver where they may see it', () => {
  assert.ok(may({ scope: 'person' }, { what: 'forget', sender: ada, isOn: false }));
  assert.ok(!may({ scope: 'chat' }, { what: 'forget' }));
  assert.ok(may({ scope: 'chat' }, { what: 'forget', manages: true }));
  assert.ok(!may({ scope: 'chat' }, { what: 'forget', manages: true, chatIds: ['telegram:-7'] }));
  assert.ok(!may({ scope: 'person' }, { what: 'forget', manages: true, chatType: 'private' }));
});

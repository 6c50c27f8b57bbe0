import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Memory, MemoryUse } from '../../../src/core/memory.ts';
import { decideMemory } from '../../../src/features/memory/decide-memory.ts';
import { walkProduct } from '../../support/walk-product.ts';

type Judged = Parameters<typeof decideMemory>[0];

const ada = 'telegram:42';
const group = 'telegram:-100';
const lost = undefined as unknown as boolean;

const lists = {
  scope: ['person', 'chat', 'team', 'world' as Memory['scope']],
  author: [ada, 'telegram:421', ''],
  chat: [group],
  isPrivate: [false, lost],
  isApproved: [true, lost],
  taint: [undefined, 'gmail'] as Memory['taint'][],
  what: ['show', 'write', 'forget', 'list', 'guess' as MemoryUse['what']],
  isOn: [true, lost],
  chatType: ['private', 'group', 'channel', 'unknown'],
  chatIds: [['telegram:-7', group], [ada]],
  external: [false, lost],
  ephemeral: [false, lost],
  sender: [ada, ''],
  manages: [true, lost],
} as const;

function isShown(memory: Judged, { chatType, chatIds, external, sender }: MemoryUse): boolean {
  const isRoom = chatType === 'group' || chatType === 'channel';
  const isOpen = memory.isPrivate === false && memory.taint === undefined;
  switch (memory.scope) {
    case 'person':
      return chatType === 'private' && sender !== '' && memory.author === sender;
    case 'chat':
      return isOpen && isRoom && chatIds.includes(memory.chat);
    case 'team':
      return isOpen && memory.isApproved && external === false && (isRoom || chatType === 'private');
    default:
      return false;
  }
}

/** The rule once more, as the SPEC says it. */
function isAllowed(memory: Judged, use: MemoryUse): boolean {
  const { what, isOn, chatType, ephemeral, sender, manages } = use;
  const isTheirs = sender !== '' && memory.author === sender;
  const isRoom = chatType === 'group' || chatType === 'channel';
  if (what === 'list') return isTheirs;
  if (what === 'forget') return isTheirs || (manages && isShown(memory, use));
  if (what === 'show') return isOn && isShown(memory, use);
  if (what !== 'write' || !isOn || !isTheirs) return false;
  if (memory.scope === 'person') return isRoom || chatType === 'private';
  return isRoom && ephemeral === false && isShown({ ...memory, isApproved: true }, use);
}

test('K1 K2 K3 a memory is used exactly where the rule says, and nowhere if a field is lost', () => {
  const cases = walkProduct<Record<string, unknown>>(lists, (one) => {
    const of = one as unknown as Judged & MemoryUse;
    if (decideMemory(of, of).allowed !== (isAllowed(of, of) === true)) assert.fail(JSON.stringify(of));
  });
  assert.ok(cases > 100_000, String(cases));
});

test('K1 K2 K3 each denial has its code and says why', () => {
  const memory: Judged = { scope: 'chat', author: ada, chat: group, isPrivate: false, isApproved: false };
  const use: MemoryUse = {
    ...{ what: 'show', isOn: true, chatType: 'group', chatIds: [group] },
    ...{ external: false, ephemeral: false, sender: ada, manages: false },
  };
  const bob = { sender: 'telegram:421' };
  const direct = { chatType: 'private' } as const;
  const rows: readonly (readonly [Partial<Judged>, Partial<MemoryUse>, string, RegExp])[] = [
    [{}, { what: 'list', ...bob }, 'MEMORY_NOT_YOURS', /^somebody else had it noted$/],
    [{}, { what: 'forget', ...bob }, 'MEMORY_NOT_YOURS', /^only who had it noted, an owner or an approver/],
    [{}, { what: 'guess' as never }, 'MEMORY_NOT_HERE', /^this is no known use of a memory$/],
    [{}, { isOn: false }, 'MEMORY_OFF', /^memory is switched off here$/],
    [{}, { what: 'write', isOn: false }, 'MEMORY_OFF', /^memory is switched off here$/],
    [{}, { what: 'write', ...bob }, 'MEMORY_NOT_YOURS', /^it is noted for somebody else$/],
    [{}, { what: 'write', chatType: 'unknown' }, 'MEMORY_NOT_HERE', /^the kind of this chat is not known$/],
    [{}, { what: 'write', ...direct }, 'MEMORY_PRIVATE', /^what was said in private stays with the person/],
    [{}, { what: 'write', ephemeral: true }, 'MEMORY_PRIVATE', /^what was said in private stays with/],
    [{ isPrivate: true }, {}, 'MEMORY_PRIVATE', /^what was said in private stays with/],
    [{ taint: 'gmail' }, {}, 'MEMORY_PRIVATE', /^this conversation holds what a sensitive skill or a linked/],
    [{ scope: 'person' }, {}, 'MEMORY_NOT_HERE', /^it is for direct messages$/],
    [{ scope: 'person' }, { ...direct, ...bob }, 'MEMORY_NOT_YOURS', /^it belongs to another person$/],
    [{}, { chatIds: [] }, 'MEMORY_NOT_HERE', /^it belongs to another chat$/],
    [{ scope: 'world' as never }, {}, 'MEMORY_NOT_HERE', /^its scope is not known$/],
    [{ scope: 'team' }, {}, 'MEMORY_NOT_HERE', /^no approver agreed to it$/],
    [
      { scope: 'team', isApproved: true },
      { external: true },
      'MEMORY_NOT_HERE',
      /^people of other companies/,
    ],
    [
      { scope: 'team', isApproved: true },
      { chatType: 'unknown' },
      'MEMORY_NOT_HERE',
      /^the kind of this chat/,
    ],
  ];
  for (const [change, how, code, reason] of rows) {
    const decision = decideMemory({ ...memory, ...change }, { ...use, ...how });
    const row = JSON.stringify([change, how]);
    assert.equal(decision.allowed ? '' : decision.code, code, row);
    assert.match(decision.allowed ? '' : decision.reason, reason, row);
  }
});

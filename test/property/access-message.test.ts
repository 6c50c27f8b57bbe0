import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AccessLevel, AccessSettings } from '../../src/core/access-settings.ts';
import { decideMessage } from '../../src/access/decide-message.ts';
import type { Message } from '../../src/core/message.ts';
import { walkProduct } from '../support/walk-product.ts';

/** The property: over the whole product of its inputs, `decideMessage` says what a table written from A9 says. */

const runs = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);
const userLists = {
  none: undefined,
  empty: [],
  match: ['7', '42', 'B42'],
  miss: ['telegram:4'],
  all: ['slack:*'],
};
const groupLists = {
  none: undefined,
  empty: [],
  match: ['slack:C1'],
  former: ['C0'],
  miss: ['C', 'telegram:C1'],
  allowed: [],
};
const memberLists = {
  none: undefined,
  empty: [],
  match: ['slack:42', 'slack:B42'],
  miss: ['telegram:42'],
  all: ['*'],
};
const who = { id: 'slack:42', name: 'slack:7' };
const app = { id: 'slack:B42', name: 'slack:7', kind: 'bot' } as const;
const conversation = { channel: 'slack', chat: 'C1', thread: '17.5' };
const formerChatIds = ['slack:C0'];

const inputs = {
  chatType: ['private', 'group', 'channel', 'unknown'],
  // An `app` is a bot that speaks by its own id, a `bot` one that carries a user's.
  kind: ['person', 'chat', 'bot', 'app', 'guest'],
  addressed: [false, true],
  owner: [false, true],
  users: ['none', 'empty', 'match', 'miss', 'all'],
  groups: ['none', 'empty', 'match', 'former', 'miss', 'allowed'],
  members: ['none', 'empty', 'match', 'miss', 'all'],
  dm: [undefined, 'pairing', 'allowlist', 'open'],
  groupsMode: [undefined, 'allowlist', 'open'],
  mention: [undefined, 'required', 'always'],
  paired: [false, true],
  allowExternal: [false, true],
} as const;
type Inputs = typeof inputs;
type Case = { readonly [Key in keyof Inputs]: Inputs[Key][number] };

/** A9, sentence by sentence: an unknown chat type is "elsewhere". The first rule that denies gives the code. */
const inPrivate = (one: Case): boolean => one.chatType === 'private';
const isBot = ({ kind }: Case): boolean => kind === 'bot' || kind === 'app';
const isOwner = (one: Case): boolean => one.owner && !isBot(one);
const isListed = (one: Case): boolean => isOwner(one) || one.users === 'match';
const isUser = (one: Case): boolean =>
  isListed(one) || one.paired || (one.users === 'all' && one.kind === 'person');
const isMember = (one: Case): boolean =>
  one.members === 'none' ? isUser(one) : isOwner(one) || one.members === 'match' || one.members === 'all';
const rules: readonly (readonly [code: string, denies: (one: Case) => boolean])[] = [
  ['BOT', (one) => one.kind === 'bot'],
  ['BOT', (one) => one.kind === 'app' && !isListed(one) && (inPrivate(one) || one.members !== 'match')],
  ['OUTSIDER', (one) => one.kind === 'guest' && !one.allowExternal],
  ['NOT_ALLOWED', (one) => inPrivate(one) && !isUser(one) && one.dm === 'allowlist'],
  ['STRANGER', (one) => inPrivate(one) && !isUser(one) && one.dm !== 'open'],
  [
    'CHAT_NOT_ALLOWED',
    (one) =>
      !inPrivate(one) && one.groupsMode !== 'open' && !['match', 'former', 'allowed'].includes(one.groups),
  ],
  ['NOT_ALLOWED', (one) => !inPrivate(one) && !isMember(one)],
  ['NOT_ADDRESSED', (one) => !inPrivate(one) && !one.addressed && one.mention !== 'always'],
];

function decide(one: Case): string | undefined {
  const general: AccessLevel = {
    users: userLists[one.users],
    groups: groupLists[one.groups],
    groupUsers: memberLists[one.members],
    dm: one.dm,
    groupsMode: one.groupsMode,
    mention: one.mention,
  };
  const owners = one.owner ? ['slack:42', 'slack:B42'] : ['slack:7', 'telegram:42'];
  const { chatType, addressed, paired, allowExternal } = one;
  const settings: AccessSettings = { owners, general, channels: new Map(), chats: new Map(), allowExternal };
  const sender = one.kind === 'app' ? app : { ...who, kind: one.kind };
  const decision = decideMessage({ conversation, chatType, sender, addressed }, settings, {
    paired,
    groupAllowed: one.groups === 'allowed',
    formerChatIds,
  });
  return decision.allowed ? undefined : decision.code;
}

test('A9 S17 decideMessage agrees with the table over the product of its inputs', () => {
  const used = new Set<string>();
  const count = walkProduct<Case>(inputs, (one) => {
    const expected = rules.find(([, denies]) => denies(one))?.[0];
    used.add(String(expected));
    const found = decide(one);
    if (found !== expected) assert.equal(found, expected, JSON.stringify(one));
    // So what config alone admits needs no look in the store.
    const groups = one.groups === 'allowed' ? 'none' : one.groups;
    const byConfig = { ...one, owner: false, paired: false, groups };
    if (found !== undefined && decide(byConfig) === undefined) assert.fail(JSON.stringify(one));
  });
  assert.ok(count >= 90_000, `only ${count} cases`);
  assert.equal(used.size, 7, 'every code and the permission were reached');
});

const level = fc.record(
  {
    users: fc.constantFrom([], ['slack:42'], ['7']),
    groups: fc.constantFrom([], ['C1'], ['slack:C9']),
    groupUsers: fc.constantFrom([], ['*'], ['42']),
    dm: fc.constantFrom('pairing' as const, 'allowlist' as const, 'open' as const),
    groupsMode: fc.constantFrom('allowlist' as const, 'open' as const),
    mention: fc.constantFrom('required' as const, 'always' as const),
  },
  { requiredKeys: [] },
);
const entryFor = fc.constantFrom('slack:C1', 'C1', 'slack:C0', 'C0', 'slack:C', 'telegram:C1', 'slack:C11');

test('A9 what is said for a channel overrides the general rule key by key, what is said for a chat both', () => {
  const entries = fc.uniqueArray(fc.tuple(entryFor, level), { selector: ([entry]) => entry, maxLength: 4 });
  const property = fc.property(
    level,
    fc.option(level, { nil: undefined }),
    level,
    entries,
    fc.constantFrom('private' as const, 'group' as const),
    fc.boolean(),
    (general, slack, telegram, chats, chatType, addressed) => {
      const speaker: Pick<Message, 'conversation' | 'chatType' | 'sender' | 'addressed'> = {
        conversation,
        chatType,
        sender: { ...who, kind: 'person' },
        addressed,
      };
      const settings: AccessSettings = {
        owners: [],
        general,
        channels: new Map([
          ['telegram', telegram],
          ...(slack === undefined ? [] : [['slack', slack] as const]),
        ]),
        chats: new Map(chats),
        allowExternal: false,
      };
      // The present id before the former one, qualified before bare; others never count.
      const ofChat = ['slack:C1', 'C1', 'slack:C0', 'C0'].find((entry) => settings.chats.has(entry));
      const flat = { ...general, ...slack, ...settings.chats.get(ofChat ?? '') };
      const known = { paired: false, groupAllowed: false, formerChatIds };
      const plain = { ...settings, general: flat, channels: new Map(), chats: new Map() };
      assert.deepEqual(decideMessage(speaker, settings, known), decideMessage(speaker, plain, known));
    },
  );
  fc.assert(property, { numRuns: runs * 5 });
});

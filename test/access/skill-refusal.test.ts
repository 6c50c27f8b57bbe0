import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SkillRules, SkillSettings } from '../../src/core/access-settings.ts';
import type { ChatType } from '../../src/core/conversation.ts';
import type { SkillUse } from '../../src/access/decide-skill.ts';
import { skillRefusal } from '../../src/access/skill-refusal.ts';
import type { SkillAccess } from '../../src/core/skill.ts';
import {
  makeSkill,
  openAccess as open,
  secretAccess as secret,
  useInGroup as inGroup,
} from '../support/make-skill.ts';

const inDirect: Partial<SkillUse> = { chatType: 'private', chatIds: ['telegram:42'] };
const only = (...chatTypes: ChatType[]): SkillAccess => ({ ...open, chatTypes });

type Options = Readonly<{ use?: Partial<SkillUse>; defaults?: readonly string[]; toOwner?: boolean }>;

function refusal(access: SkillAccess, settings: SkillSettings = {}, options: Options = {}) {
  const { use = {}, defaults = [], toOwner = false } = options;
  const skills = new Map([['gmail', settings]]);
  const rules: SkillRules = { enabled: true, defaults: { allowChatIds: defaults }, skills };
  return skillRefusal({ ...makeSkill('gmail'), access }, rules, { ...inGroup, ...use }, { toOwner });
}

const told = (...of: Parameters<typeof refusal>): string | undefined => refusal(...of)?.sentence;

const notHere = '{0} does not work in this chat.';
const directOnly = '{0} works in a direct message only.';
const off = '{0} is off until an owner enables it.';

test('A11 who may use the skill in private is told that it works in a direct message', () => {
  assert.equal(told(secret), directOnly);
  assert.equal(refusal(secret)?.inDirect, true);
  assert.equal(told(secret, { allowUsers: ['42'] }), directOnly);
  const too = '{0} works in a direct message, not in this chat.';
  assert.equal(told(only('private', 'channel')), too);
  assert.equal(told(open, { allowChatIds: ['42', '-5'] }), too);
});

test('A11 a skill for other kinds of chat is refused with their names', () => {
  for (const use of [inDirect, { chatType: 'channel' } as const])
    assert.equal(told(only('group'), {}, { use }), '{0} works in groups only.');
  assert.equal(told(only('channel')), '{0} works in channels only.');
  assert.equal(told(open, { chatTypes: ['channel'] }), '{0} works in channels only.');
  for (const access of [only('group', 'channel'), only('channel', 'group')])
    assert.equal(told(access, {}, { use: inDirect }), '{0} works in groups and channels only.');
  assert.equal(told(only('group'), {}, { use: { chatType: 'unknown' } }), notHere);
});

test('A11 A4 a list of chats says neither which chats nor which kind it is about', () => {
  const elsewhere = { allowChatIds: ['-5'] };
  for (const use of [{}, inDirect]) {
    assert.deepEqual(refusal(open, elsewhere, { use }), { sentence: notHere, inDirect: false });
    assert.equal(told(open, {}, { use, defaults: ['-5'] }), notHere);
  }
  assert.equal(told(only('group'), elsewhere, { use: inDirect }), notHere);
  const external = { ...inDirect, external: true } as const;
  assert.equal(told(secret, {}, { use: external }), notHere, 'people of other workspaces read along');
});

test('A11 A7 D9 a skill that is off says so wherever it would be theirs', () => {
  for (const settings of [{ enabled: false }, { enabled: false, allowChatIds: ['-5'] }]) {
    assert.equal(told(open, settings), off);
    assert.equal(told(open, settings, { use: inDirect }), off);
    assert.equal(told(secret, settings), off);
  }
  assert.equal(told({ ...open, optIn: true }), off);
  assert.equal(told({ ...open, approved: false }), off);
  const rules: SkillRules = { enabled: false, defaults: {}, skills: new Map() };
  const decided = skillRefusal({ ...makeSkill('gmail'), access: open }, rules, inGroup, { toOwner: false });
  assert.equal(decided?.sentence, off);
});

test('A11 who is no user of a skill hears of it in no case; models never do', () => {
  const cases: readonly (readonly [SkillAccess, SkillSettings])[] = [
    [open, { allowUsers: ['7'] }],
    [open, { allowUsers: [] }],
    [secret, { allowUsers: ['7'] }],
    [open, { allowUsers: ['7'], enabled: false }],
    [open, { allowUsers: ['7'], allowChatIds: ['-5'] }],
    [only('group'), { chatTypes: ['channel'] }],
    [secret, { chatTypes: [] }],
    [{ ...open, userInvocable: false }, { enabled: false }],
  ];
  for (const [access, settings] of cases)
    for (const use of [{}, inDirect, { chatType: 'unknown' } as const])
      assert.equal(refusal(access, settings, { use }), undefined, JSON.stringify({ access, settings }));
  for (const settings of [{ enabled: false }, { allowChatIds: ['-5'] }])
    assert.equal(refusal(secret, settings, { use: { by: 'model' }, toOwner: true }), undefined);
});

test('A11 L13 an owner hears of every skill that is for people', () => {
  const toOwner = true;
  assert.equal(told(open, { allowUsers: ['7'] }, { toOwner }), notHere);
  assert.equal(told(secret, { chatTypes: ['group'] }, { toOwner }), notHere);
  assert.equal(told(open, { enabled: false }, { toOwner }), off);
  assert.equal(refusal({ ...open, userInvocable: false }, {}, { toOwner }), undefined);
});

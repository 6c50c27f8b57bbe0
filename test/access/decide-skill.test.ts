import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SkillRules, SkillSettings } from '../../src/core/access-settings.ts';
import {
  whyNoAccess,
  allowedChatTypes,
  decideSkill,
  isSensitive,
  type SkillUse,
} from '../../src/access/decide-skill.ts';
import type { SkillAccess } from '../../src/core/skill.ts';
import {
  makeSkill,
  openAccess as open,
  secretAccess as secret,
  useInGroup as inGroup,
} from '../support/make-skill.ts';

function rules(settings: SkillSettings = {}, defaults: readonly string[] = []): SkillRules {
  return { enabled: true, defaults: { allowChatIds: defaults }, skills: new Map([['gmail', settings]]) };
}

function decide(access: SkillAccess, all: SkillRules, use: Partial<SkillUse> = {}) {
  return decideSkill({ ...makeSkill('gmail'), access }, all, { ...inGroup, ...use });
}

function code(access: SkillAccess, all: SkillRules, use: Partial<SkillUse> = {}): string {
  const decision = decide(access, all, use);
  return decision.allowed ? 'allowed' : decision.code;
}

const here = 'SKILL_NOT_AVAILABLE_HERE';

test('A5 an allow-listed group still cannot run a sensitive skill', () => {
  assert.equal(code(secret, rules({ allowChatIds: ['telegram:-100123'] })), here);
  assert.equal(code(open, rules({ allowChatIds: ['telegram:-100123'] })), 'allowed');
});

test('A2 config can make a skill stricter and never looser', () => {
  const gmail = { ...makeSkill('gmail'), access: secret };
  const named = (settings: SkillSettings) => allowedChatTypes(gmail, rules(settings));
  assert.deepEqual(named({ chatTypes: ['private', 'group'], sensitive: false }), ['private']);
  assert.deepEqual(named({ chatTypes: ['group'] }), []);
  assert.deepEqual(named({ chatTypes: [] }), [], 'a list that names no type allows none');
  const all = allowedChatTypes({ ...makeSkill('gmail'), access: open }, rules({ sensitive: true }));
  assert.deepEqual(all, ['private']);
});

test('A3 an unknown chat type is denied even to a skill that is for every chat', () => {
  assert.equal(code(open, rules(), { chatType: 'unknown' }), here);
  assert.equal(code(open, rules(), { chatType: 'supergroup' as SkillUse['chatType'] }), here);
});

test('A3 a sensitive skill is denied in a shared conversation of an allowed type', () => {
  const shared = { chatType: 'private', external: true } as const;
  assert.equal(code(secret, rules(), shared), here);
  assert.equal(code(open, rules({ sensitive: true, chatTypes: ['private'] }), shared), here);
  assert.equal(code(open, rules(), shared), 'allowed');
  assert.equal(code(secret, rules(), { ...shared, external: undefined as unknown as boolean }), here);
});

test("A4 a skill's own list replaces the default whole, and an explicit empty one lifts it", () => {
  const elsewhere = ['telegram:-1'];
  assert.equal(code(open, rules({}, elsewhere)), here);
  assert.equal(code(open, rules({ allowChatIds: ['-100123'] }, elsewhere)), 'allowed');
  assert.equal(code(open, rules({ allowChatIds: ['-5'] }, ['-100123'])), here, 'never merged');
  assert.equal(code(open, rules({ allowChatIds: [] }, elsewhere)), 'allowed');
  assert.equal(code(open, rules({ allowChatIds: ['-5'] }), { chatIds: [] }), here);
});

test('A6 a list that names the former id of a chat still means it', () => {
  const chatIds = ['telegram:-100123', 'telegram:-7'];
  assert.equal(code(open, rules({ allowChatIds: ['telegram:-7'] }), { chatIds }), 'allowed');
  assert.equal(code(open, rules({ allowChatIds: ['slack:-7'] }), { chatIds }), here);
});

test('A7 allow_users narrows to senders, empty admits nobody, and enabled = false switches off for all', () => {
  assert.equal(code(open, rules({ allowUsers: ['42'] })), 'allowed');
  assert.equal(code(open, rules({ allowUsers: ['telegram:7'] })), here);
  assert.equal(code(open, rules({ allowUsers: [] })), here);
  assert.equal(code(open, rules({ enabled: false })), 'SKILL_DISABLED');
});

test('A7 a skill that is off until switched on needs enabled = true', () => {
  assert.equal(code({ ...open, optIn: true }, rules()), 'SKILL_DISABLED');
  assert.equal(code({ ...open, optIn: true }, rules({ enabled: true })), 'allowed');
});

test('U1 access is decided before enabled, and enabled before who starts it', () => {
  const hidden = { ...secret, userInvocable: false };
  assert.equal(code(hidden, rules({ enabled: false })), here);
  assert.equal(code(hidden, rules({ enabled: false }), { chatType: 'private' }), 'SKILL_DISABLED');
  assert.equal(code(hidden, rules(), { chatType: 'private' }), 'SKILL_NOT_FOUND');
});

test('I4 the model cannot start what only people may start, nor people what only the model may', () => {
  const byPerson = { ...open, disableModelInvocation: true };
  assert.equal(code(byPerson, rules(), { by: 'model' }), 'SKILL_NOT_FOUND');
  assert.equal(code(byPerson, rules(), { by: 'person' }), 'allowed');
  const byModel = { ...open, userInvocable: false };
  assert.equal(code(byModel, rules(), { by: 'person' }), 'SKILL_NOT_FOUND');
  assert.equal(code(byModel, rules(), { by: 'model' }), 'allowed');
  for (const access of [byPerson, byModel]) {
    const decision = code(access, rules(), { by: 'timer' as SkillUse['by'] });
    assert.equal(decision, 'SKILL_NOT_FOUND', 'a use by neither passes only where both may');
  }
});

test('A8 skills that are switched off altogether run for nobody, whatever their own settings say', () => {
  const off = { ...rules({ enabled: true }), enabled: false };
  for (const by of ['person', 'model'] as const) assert.equal(code(open, off, { by }), 'SKILL_DISABLED');
  assert.equal(code(open, { ...off, enabled: undefined as unknown as boolean }), 'SKILL_DISABLED');
});

test('A8 D9 what does not say that it was approved is not', () => {
  const { approved: _, ...unsaid } = open;
  assert.equal(code(unsaid as SkillAccess, rules()), 'SKILL_DISABLED');
});

test('A4 X7 an empty list of chats is for no chat; S7 what the operator calls sensitive is', () => {
  const place = { chatTypes: ['group'], sensitive: false } as const;
  assert.equal(whyNoAccess('x', place, inGroup), undefined);
  assert.match(whyNoAccess('x', { ...place, chats: [] }, inGroup) ?? '', /not in allow_chat_ids/);
  const sensitive = (settings: SkillSettings) =>
    isSensitive({ ...makeSkill('gmail'), access: open }, rules(settings));
  assert.deepEqual([sensitive({}), sensitive({ sensitive: true })], [false, true]);
});

test('A8 a refusal tells the operator the skill and the rule', () => {
  const off = { ...rules(), enabled: false };
  const cases: readonly (readonly [SkillAccess, SkillRules, Partial<SkillUse>, string])[] = [
    [secret, rules(), {}, 'gmail is for private chats; this one is group'],
    [
      { ...open, chatTypes: ['private', 'channel'] },
      rules(),
      {},
      'gmail is for private, channel chats; this one is group',
    ],
    [{ ...open, chatTypes: [] }, rules(), {}, 'gmail is for no chats; this one is group'],
    [
      { ...open, sensitive: true },
      rules(),
      { external: true },
      'gmail is sensitive and this chat is shared with others',
    ],
    [open, rules({ allowChatIds: ['-7'] }), {}, 'telegram:-100123 is not in allow_chat_ids of gmail'],
    [open, rules({ allowChatIds: ['-7'] }), { chatIds: [] }, 'this chat is not in allow_chat_ids of gmail'],
    [open, rules({ allowUsers: ['7'] }), {}, 'telegram:42 is not in allow_users of gmail'],
    [open, off, {}, 'skills are switched off: set [skills] enabled = true'],
    [open, rules({ enabled: false }), {}, 'gmail is switched off: set [skills.gmail] enabled = true'],
    [
      { ...open, optIn: true },
      rules(),
      {},
      'gmail is off until switched on: set [skills.gmail] enabled = true',
    ],
    [
      { ...open, approved: false },
      rules(),
      {},
      'the bot wrote gmail: run skillet skill enable gmail to approve it',
    ],
    [
      { ...open, disableModelInvocation: true },
      rules(),
      { by: 'model' },
      'gmail may only be started by a person',
    ],
    [{ ...open, userInvocable: false }, rules(), {}, 'gmail may only be started by the model'],
  ];
  for (const [access, all, use, reason] of cases) {
    const decision = decide(access, all, use);
    assert.equal(decision.allowed ? 'allowed' : decision.reason, reason);
  }
});

test('A8 a skill that no config names has its own rules alone', () => {
  const none: SkillRules = { enabled: true, defaults: {}, skills: new Map() };
  assert.equal(code(open, none), 'allowed');
  assert.equal(code(secret, none), here);
  assert.deepEqual(allowedChatTypes({ ...makeSkill('gmail'), access: secret }, none), ['private']);
  assert.equal(isSensitive({ ...makeSkill('gmail'), access: open }, none), false);
  assert.equal(isSensitive({ ...makeSkill('gmail'), access: secret }, none), true);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SkillRules, SkillSettings } from '../../src/core/access-settings.ts';
import { chatTypes, type ChatType, type SeenChatType } from '../../src/core/conversation.ts';
import { decideSkill, type SkillUse } from '../../src/core/decide-skill.ts';
import { walkProduct } from '../support/walk-product.ts';

/** The property: over the whole product of its inputs, `decideSkill` says what a table written from SPEC-1 A says. */

const sender = 'telegram:42';
const chat = 'telegram:-100123';
const subsets: readonly (readonly ChatType[])[] = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) =>
  chatTypes.filter((_, index) => bits & (1 << index)),
);
const chatLists = {
  none: undefined,
  empty: [],
  match: ['slack:-100123', '-100123'],
  miss: ['-100', '123', '42x'],
};
const defaultLists = {
  none: undefined,
  empty: [],
  match: ['telegram:-100123'],
  miss: ['telegram:100123', 'x'],
};
const userLists = { none: undefined, empty: [], match: ['7', '42'], miss: ['telegram:4', 'slack:42'] };

const uses = {
  chatType: ['private', 'group', 'channel', 'unknown'],
  external: [false, true],
  by: ['person', 'model'],
} as const;
const definitions = {
  sensitive: [false, true],
  chatTypes: subsets,
  configSensitive: [undefined, false, true],
  configChatTypes: [undefined, ...subsets],
  chats: ['none', 'empty', 'match', 'miss'],
  defaults: ['none', 'empty', 'match', 'miss'],
  users: ['none', 'empty', 'match', 'miss'],
  skillsOn: [false, true],
  enabled: [undefined, false, true],
  optIn: [false, true],
  disableModelInvocation: [false, true],
  userInvocable: [false, true],
} as const;
type CaseOf<Inputs extends Readonly<Record<string, readonly unknown[]>>> = {
  readonly [Key in keyof Inputs]: Inputs[Key][number];
};
type Use = CaseOf<typeof uses>;
type Definition = CaseOf<typeof definitions>;
type Case = Definition & Use;

/** The table. The first rule that denies gives the code; the order is that of U1. */
const rules: readonly (readonly [id: string, code: string, denies: (one: Case) => boolean])[] = [
  ['A3', 'SKILL_NOT_AVAILABLE_HERE', (one) => one.chatType === 'unknown'],
  ['A2', 'SKILL_NOT_AVAILABLE_HERE', (one) => !has(one.chatTypes, one.chatType)],
  [
    'A2 config chat types',
    'SKILL_NOT_AVAILABLE_HERE',
    (one) => one.configChatTypes !== undefined && !has(one.configChatTypes, one.chatType),
  ],
  [
    'A2 config sensitive',
    'SKILL_NOT_AVAILABLE_HERE',
    (one) => one.configSensitive === true && one.configChatTypes === undefined && one.chatType !== 'private',
  ],
  [
    'A3 external',
    'SKILL_NOT_AVAILABLE_HERE',
    (one) => one.external && (one.sensitive || one.configSensitive === true),
  ],
  ['A4 own list', 'SKILL_NOT_AVAILABLE_HERE', (one) => one.chats === 'miss'],
  ['A4 default', 'SKILL_NOT_AVAILABLE_HERE', (one) => one.chats === 'none' && one.defaults === 'miss'],
  ['A7 users', 'SKILL_NOT_AVAILABLE_HERE', (one) => one.users === 'miss' || one.users === 'empty'],
  ['A8 all off', 'SKILL_DISABLED', (one) => !one.skillsOn],
  ['A7 off', 'SKILL_DISABLED', (one) => one.enabled === false],
  ['F6 opt_in', 'SKILL_DISABLED', (one) => one.optIn && one.enabled !== true],
  ['I4 model', 'SKILL_NOT_FOUND', (one) => one.by === 'model' && one.disableModelInvocation],
  ['I4 person', 'SKILL_NOT_FOUND', (one) => one.by === 'person' && !one.userInvocable],
];

/** A11: told to go to a direct message is a person who may use it there. No list of these names that chat. */
function isSentToDirectMessage(one: Case): boolean {
  if (one.by !== 'person' || one.chatType === 'private') return false;
  const listed = one.chats === 'match' || (one.chats === 'none' && one.defaults === 'match');
  return !listed && ruleFor({ ...one, chatType: 'private', external: false }) === undefined;
}

function ruleFor(one: Case): (typeof rules)[number] | undefined {
  return rules.find(([, , denies]) => denies(one));
}

function has(types: readonly ChatType[], type: SeenChatType): boolean {
  return types.some((one) => one === type);
}

/** `decideSkill` for one skill and one config. */
function decider(one: Definition, approved = true): (use: Use) => ReturnType<typeof decideSkill> {
  const settings: SkillSettings = {
    enabled: one.enabled,
    sensitive: one.configSensitive,
    chatTypes: one.configChatTypes,
    allowChatIds: chatLists[one.chats],
    allowUsers: userLists[one.users],
  };
  const all: SkillRules = {
    enabled: one.skillsOn,
    defaults: { allowChatIds: defaultLists[one.defaults] },
    skills: new Map([['gmail', settings]]),
  };
  const { chatTypes, sensitive, optIn, disableModelInvocation, userInvocable } = one;
  const access = { chatTypes, sensitive, optIn, approved, disableModelInvocation, userInvocable, why: [] };
  return ({ chatType, external, by }) => {
    const use: SkillUse = { chatType, chatIds: [chat], external, sender, by };
    return decideSkill({ name: 'gmail', access }, all, use);
  };
}

test('A8 decideSkill agrees with the table of A1–A7 and I4 over the product of its inputs', () => {
  const used = new Map<string, number>();
  const asked: Use[] = [];
  walkProduct<Use>(uses, (use) => asked.push({ ...use }));
  const count = walkProduct<Definition>(definitions, (definition) => {
    const decide = decider(definition);
    const one: Case = { ...definition, ...(asked[0] as Use) };
    for (const use of asked) {
      Object.assign(one, use);
      const decision = decide(use);
      const rule = ruleFor(one);
      used.set(rule?.[0] ?? 'allowed', (used.get(rule?.[0] ?? 'allowed') ?? 0) + 1);
      const found = decision.allowed ? undefined : decision.code;
      if (found !== rule?.[1]) assert.equal(found, rule?.[1], JSON.stringify({ rule: rule?.[0], ...one }));
      const hinted = !decision.allowed && decision.hint !== undefined;
      if (hinted !== (rule !== undefined && isSentToDirectMessage(one)))
        assert.equal(hinted, !hinted, `hint: ${JSON.stringify(one)}`);
    }
  });
  assert.ok(count * asked.length >= 10_000_000, `only ${count} definitions`);
  for (const [id] of [...rules, ['allowed']] as const) assert.ok(used.has(id), `no case reaches ${id}`);
});

/** What says nothing of lists, of which the table above has every case. */
const withoutLists = {
  ...definitions,
  chatTypes: [[], ['private'], chatTypes],
  configChatTypes: [undefined],
  chats: ['none', 'match'],
  defaults: ['none'],
  users: ['none', 'match'],
} as const;

test('D9 A8 what the bot wrote and nobody enabled is allowed to nobody, whatever config says', () => {
  let wouldBe = 0;
  walkProduct<Definition>(withoutLists, (definition) => {
    const decide = [decider(definition, false), decider(definition)] as const;
    walkProduct<Use>(uses, (use) => {
      const decision = decide[0](use);
      if (decision.allowed || decision.hint !== undefined)
        assert.fail(JSON.stringify({ ...definition, ...use }));
      if (decide[1](use).allowed) wouldBe += 1;
    });
  });
  assert.ok(wouldBe > 1_000, 'many of these cases are allowed once it is approved');
});

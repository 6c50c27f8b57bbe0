import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SkillRules, SkillSettings } from '../../src/core/access-settings.ts';
import { chatTypes, type ChatType, type SeenChatType } from '../../src/core/conversation.ts';
import { decideSkill, type SkillUse } from '../../src/access/decide-skill.ts';
import { skillRefusal } from '../../src/access/skill-refusal.ts';
import { makeSkill } from '../support/make-skill.ts';
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
const rules: readonly Readonly<{ id: string; code: string; denies(one: Case): boolean }>[] = [
  { id: 'A3', code: 'SKILL_NOT_AVAILABLE_HERE', denies: (one) => one.chatType === 'unknown' },
  { id: 'A2', code: 'SKILL_NOT_AVAILABLE_HERE', denies: (one) => !has(one.chatTypes, one.chatType) },
  {
    id: 'A2 config chat types',
    code: 'SKILL_NOT_AVAILABLE_HERE',
    denies: (one) => one.configChatTypes !== undefined && !has(one.configChatTypes, one.chatType),
  },
  {
    id: 'A2 config sensitive',
    code: 'SKILL_NOT_AVAILABLE_HERE',
    denies: (one) =>
      one.configSensitive === true && one.configChatTypes === undefined && one.chatType !== 'private',
  },
  {
    id: 'A3 external',
    code: 'SKILL_NOT_AVAILABLE_HERE',
    denies: (one) => one.external && (one.sensitive || one.configSensitive === true),
  },
  { id: 'A4 own list', code: 'SKILL_NOT_AVAILABLE_HERE', denies: (one) => one.chats === 'miss' },
  {
    id: 'A4 default',
    code: 'SKILL_NOT_AVAILABLE_HERE',
    denies: (one) => one.chats === 'none' && one.defaults === 'miss',
  },
  {
    id: 'A7 users',
    code: 'SKILL_NOT_AVAILABLE_HERE',
    denies: (one) => one.users === 'miss' || one.users === 'empty',
  },
  { id: 'A8 all off', code: 'SKILL_DISABLED', denies: (one) => !one.skillsOn },
  { id: 'A7 off', code: 'SKILL_DISABLED', denies: (one) => one.enabled === false },
  { id: 'F6 opt_in', code: 'SKILL_DISABLED', denies: (one) => one.optIn && one.enabled !== true },
  {
    id: 'I4 model',
    code: 'SKILL_NOT_FOUND',
    denies: (one) => one.by === 'model' && one.disableModelInvocation,
  },
  { id: 'I4 person', code: 'SKILL_NOT_FOUND', denies: (one) => one.by === 'person' && !one.userInvocable },
];

/** A11: told to go to a direct message is a person who may use it there. No list of these names that chat. */
function isSentToDirectMessage(one: Case): boolean {
  if (one.by !== 'person' || one.chatType === 'private') return false;
  const listed = one.chats === 'match' || (one.chats === 'none' && one.defaults === 'match');
  return !listed && ruleFor({ ...one, chatType: 'private', external: false }) === undefined;
}

/** A11: a person hears of what would be theirs in some kind of chat, or once it is on. */
function hearsOf(one: Case): boolean {
  const { configChatTypes, configSensitive, users } = one;
  const byConfig = configChatTypes ?? (configSensitive === true ? (['private'] as const) : chatTypes);
  const isTheirs = users !== 'miss' && users !== 'empty' && one.userInvocable;
  return one.by === 'person' && isTheirs && one.chatTypes.some((type) => has(byConfig, type));
}

function ruleFor(one: Case): (typeof rules)[number] | undefined {
  return rules.find(({ denies }) => denies(one));
}

function has(types: readonly ChatType[], type: SeenChatType): boolean {
  return types.some((one) => one === type);
}

/** `decideSkill` for one skill and one config, and what is told of a denial. */
function decider(one: Definition, approved = true) {
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
  const gmail = { ...makeSkill('gmail'), access };
  return ({ chatType, external, by }: Use) => {
    const use: SkillUse = { chatType, chatIds: [chat], external, sender, by };
    const decision = decideSkill(gmail, all, use);
    const told = decision.allowed ? undefined : skillRefusal(gmail, all, use, { toOwner: false });
    return { decision, told };
  };
}

test('A8 A11 decideSkill and what is told of a denial agree with the table of A1–A7 and I4 over the product of its inputs', () => {
  const used = new Set<string | undefined>();
  const asked: Use[] = [];
  walkProduct<Use>(uses, (use) => asked.push({ ...use }));
  const first: { -readonly [Key in keyof Use]: Use[Key] } = {
    chatType: 'private',
    external: false,
    by: 'person',
  };
  const count = walkProduct<Definition>(definitions, (definition) => {
    const decide = decider(definition);
    const one = { ...definition, ...first };
    for (const use of asked) {
      one.chatType = use.chatType;
      one.external = use.external;
      one.by = use.by;
      const { decision, told } = decide(use);
      const rule = ruleFor(one);
      used.add(rule?.id);
      const found = decision.allowed ? undefined : decision.code;
      if (found !== rule?.code) assert.equal(found, rule?.code, JSON.stringify({ rule: rule?.id, ...one }));
      const inDirect = told?.inDirect === true;
      if (inDirect !== (rule !== undefined && isSentToDirectMessage(one)))
        assert.equal(inDirect, !inDirect, `in private: ${JSON.stringify(one)}`);
      const isTold = told !== undefined;
      if (isTold !== (rule !== undefined && hearsOf(one)))
        assert.equal(isTold, !isTold, `told: ${JSON.stringify(one)}`);
    }
  });
  assert.ok(count * asked.length >= 19_000_000, `only ${count} definitions`);
  for (const { id } of [...rules, { id: undefined }]) assert.ok(used.has(id), `no case reaches ${id}`);
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
      const { decision, told } = decide[0](use);
      if (decision.allowed || told?.inDirect === true) assert.fail(JSON.stringify({ ...definition, ...use }));
      if (decide[1](use).decision.allowed) wouldBe += 1;
    });
  });
  assert.ok(wouldBe > 1_000, 'many of these cases are allowed once it is approved');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessSettings, skillRules } from '../../src/config/runtime-config.ts';
import type { Config } from '../../src/config/complete-config.ts';
import { slackUserGroups, withPeople } from '../../src/config/people-groups.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { decideMessage } from '../../src/access/decide-message.ts';
import { decideSkill } from '../../src/access/decide-skill.ts';
import type { Message } from '../../src/core/message.ts';
import { makeSkill } from '../support/make-skill.ts';

function configOf(text: string): Config {
  const parsed = parseConfig(text, { env: {} });
  assert.ok(parsed.ok);
  return parsed.config;
}

function admits(text: string, chat: string, sender: string, more: Partial<Message> = {}): boolean {
  const [channel = '', id = ''] = chat.split(':');
  const speaker = {
    conversation: { channel, chat: id },
    chatType: 'group',
    sender: { id: sender, name: 'x', kind: 'person' },
    addressed: true,
    ...more,
  } as const;
  return decideMessage(speaker, accessSettings(configOf(text)), {
    paired: false,
    groupAllowed: false,
    formerChatIds: [],
  }).allowed;
}

test('A9 a config that says nothing admits nobody', () => {
  assert.ok(!admits('', 'telegram:-1', 'telegram:42'));
  assert.ok(!admits('', 'telegram:42', 'telegram:42', { chatType: 'private' }));
});

test('A9 users, groups, owners and overrides of the file are those that decide', () => {
  const text = `
[bot]
owner = ["telegram:1"]
[access]
users = ["telegram:42"]
groups = [-100, "slack:C1"]
[access.slack]
users = ["slack:*"]
[access.chats."slack:C1"]
mention = "always"
group_users = ["slack:U1"]
[access.chats.-100]
group_users = []`;
  assert.ok(admits(text, 'slack:C1', 'slack:U1', { addressed: false }));
  assert.ok(!admits(text, 'slack:C1', 'slack:U2'));
  assert.ok(!admits(text, 'slack:C2', 'slack:U1'));
  assert.ok(admits(text, 'slack:D2', 'slack:U2', { chatType: 'private' }));
  assert.ok(!admits(text, 'telegram:-100', 'telegram:42'));
  assert.ok(admits(text, 'telegram:-100', 'telegram:1'));
  assert.ok(admits(text, 'telegram:42', 'telegram:42', { chatType: 'private' }));
});

test('A9 members of other workspaces are let in by [slack] allow_external alone', () => {
  const guest = { sender: { id: 'slack:U9', name: 'x', kind: 'guest' }, chatType: 'private' } as const;
  const text = '[access]\nusers = ["slack:U9"]\n';
  assert.ok(!admits(text, 'slack:D1', 'slack:U9', guest));
  assert.ok(admits(`${text}[slack]\nallow_external = true`, 'slack:D1', 'slack:U9', guest));
});

test('A8 [skills] enabled is part of the rules that decide over skills', () => {
  assert.equal(skillRules(configOf('')).enabled, true);
  assert.equal(skillRules(configOf('[skills]\nenabled = false')).enabled, false);
});

test('A4 A7 the tables of [skills] are the rules that decide over skills', () => {
  const rules = skillRules(
    configOf(`
[skills.defaults]
allow_chat_ids = [-100]
[skills.free]
allow_chat_ids = []
[skills.mine]
allow_chat_ids = []
allow_users = [42]
[skills.off]
enabled = false
[skills.quiet]
sensitive = true
allow_chat_ids = ["telegram:-100"]`),
  );
  const code = (name: string, chat: string, sender: string): string => {
    const use = { chatType: 'group', chatIds: [chat], external: false, sender, by: 'person' } as const;
    const decision = decideSkill(makeSkill(name), rules, use);
    return decision.allowed ? 'allowed' : decision.code;
  };
  assert.equal(code('other', 'telegram:-100', 'telegram:1'), 'allowed');
  assert.equal(code('other', 'telegram:-5', 'telegram:1'), 'SKILL_NOT_AVAILABLE_HERE');
  assert.equal(code('free', 'telegram:-5', 'telegram:1'), 'allowed');
  assert.equal(code('mine', 'telegram:-5', 'telegram:42'), 'allowed');
  assert.equal(code('mine', 'telegram:-5', 'telegram:1'), 'SKILL_NOT_AVAILABLE_HERE');
  assert.equal(code('off', 'telegram:-100', 'telegram:1'), 'SKILL_DISABLED');
  assert.equal(code('quiet', 'telegram:-100', 'telegram:1'), 'SKILL_NOT_AVAILABLE_HERE');
});

const finance = `
[groups.finance]
members = ["telegram:42", "slack:U1", "slack:usergroup:S1"]
`;

test('A13 a named group stands for its members wherever people are listed', () => {
  const config = configOf(`${finance}
[access]
users = ["group:finance", "telegram:7"]
[access.slack]
group_users = ["group:finance"]
[access.chats.-100]
users = ["group:finance"]
[skills.payroll]
allow_users = ["group:finance"]
[policy]
approvers = ["group:finance"]
rules = [{ tool = "bash", sender = "group:finance", action = "allow" }]
[[plugins]]
path = "./p"
users = ["group:finance"]
[mcp.books]
url = "https://books.example/"
users = ["group:finance"]
`);
  const members = ['telegram:42', 'slack:U1', 'slack:usergroup:S1'];
  const { access, skills, policy, plugins, mcp } = config;
  assert.deepEqual(access.users, [...members, 'telegram:7']);
  for (const list of [
    access.slack?.groupUsers,
    access.chats['-100']?.users,
    skills.byName['payroll']?.allowUsers,
    policy.approvers,
    plugins[0]?.users,
    mcp['books']?.users,
  ])
    assert.deepEqual(list, members);
  assert.deepEqual(
    policy.rules.map(({ sender, action }) => [sender, action]),
    members.map((sender) => [sender, 'allow']),
  );
  assert.deepEqual(slackUserGroups(config), ['slack:usergroup:S1']);
});

test('A13 a group that is not there, a group in a group and a misspelt user group are problems with their place', () => {
  const problems = (text: string) => {
    const parsed = parseConfig(text, { env: {} });
    assert.ok(!parsed.ok);
    return parsed.problems.map(({ line, message }) => `${line}: ${message}`);
  };
  const [unknown, nested, misspelt, named] = [
    '[access]\nusers = ["telegram:1", "group:finanze"]\n[groups.finance]\nmembers = []\n',
    '[groups.a]\nmembers = ["group:b"]\n[groups.b]\nmembers = []\n',
    '[skills.x]\nallow_users = ["slack:usergroup:finance"]\n',
    '[groups."Big Team"]\nmembers = []\n',
  ].map(problems);
  assert.match(unknown?.[0] ?? '', /^2: .*did you mean "group:finance"\?/);
  assert.match(nested?.[0] ?? '', /^2: .*no other group/);
  assert.match(misspelt?.[0] ?? '', /^2: .*slack:usergroup:S042ABC/);
  assert.match(named?.[0] ?? '', /lower-case letters/);
  assert.equal(problems('[bot]\nowner = ["group:finance"]\n').length, 1);
});

test('A13 where members can’t be told a list admits none of them, and a rule that keeps back holds for everybody', () => {
  const config = configOf(`${finance}
[access]
users = ["group:finance"]
[policy]
rules = [
  { tool = "a", sender = "group:finance", action = "allow" },
  { tool = "b", sender = "slack:usergroup:S1", action = "deny" },
]
`);
  const users = (members: readonly string[] | undefined) =>
    withPeople(config, (entry) => (entry === 'slack:usergroup:S1' ? members : [entry]));
  assert.deepEqual(users(['slack:U9']).access.users, ['telegram:42', 'slack:U1', 'slack:U9']);
  assert.deepEqual(users(undefined).access.users, ['telegram:42', 'slack:U1']);
  const rules = (members: readonly string[] | undefined) =>
    users(members).policy.rules.map(({ tool, sender }) => `${tool} ${sender}`);
  assert.deepEqual(rules(['slack:U9']), ['a telegram:42', 'a slack:U1', 'a slack:U9', 'b slack:U9']);
  assert.deepEqual(rules([]), ['a telegram:42', 'a slack:U1']);
  assert.deepEqual(rules(undefined), ['a telegram:42', 'a slack:U1', 'b undefined']);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessSettings, skillRules } from '../../src/config/runtime-config.ts';
import type { Config } from '../../src/config/complete-config.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { decideMessage } from '../../src/access/decide-message.ts';
import { decideSkill } from '../../src/access/decide-skill.ts';
import type { Message } from '../../src/core/message.ts';
import { openAccess } from '../support/make-skill.ts';

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
    const decision = decideSkill({ name, access: openAccess }, rules, use);
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

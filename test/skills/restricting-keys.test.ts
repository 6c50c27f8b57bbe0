import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSkill } from '../../src/skills/parse/parse-skill.ts';
import { renderCatalogue } from '../../src/skills/catalogue.ts';
import { searchSkills } from '../../src/core/search-skills.ts';
import type { Definition } from '../../src/skills/parse/skill-definition.ts';
import { skillText } from './make-root.ts';

function load(front: string): Definition {
  const bytes = Buffer.from(skillText(`name: tool\ndescription: d\n${front}`));
  const parsed = parseSkill({
    path: '/x/tool/SKILL.md',
    directory: '/x/tool',
    bytes,
    cut: false,
    origin: 'user',
  });
  assert.ok(parsed.ok, `${front}: ${JSON.stringify(parsed)}`);
  return parsed.definition;
}

function saidOf(front: string): readonly string[] {
  return load(front).diagnostics.map(({ level, code, field }) => `${level} ${code} ${field}`);
}

test('F11 disallowed-tools and allowed-tools count in every spelling', () => {
  for (const key of [
    'disallowed-tools',
    'disallowed_tools',
    'disallowedTools',
    'DisallowedTools',
    'Disallowed-Tools',
  ])
    assert.deepEqual(load(`${key}: Bash, Write`).disallowedTools, ['Bash', 'Write'], key);
  for (const key of ['allowed-tools', 'allowed_tools', 'allowedTools', 'Allowed-Tools', '"allowed tools"'])
    assert.deepEqual(load(`${key}: Read`).allowedTools, ['Read'], key);
  assert.deepEqual(load('disallowed-tools:\n  - Bash(git:*)\n  - Bash(rm *)').disallowedTools, [
    'Bash(git:*)',
    'Bash(rm *)',
  ]);
  assert.equal(load('disableModelInvocation: true').access.disableModelInvocation, true);
  assert.equal(load('userInvocable: false').access.userInvocable, false);
  assert.deepEqual(load('tools: Read, Grep').allowedTools, ['Read', 'Grep']);
  assert.equal(load('tools: [gh, jq]').allowedTools, undefined);
  assert.equal(load('maxTurns: 3').maxIterations, 3);
});

test('F8 T5 an allowed-tools key with nothing after it is all tools', () => {
  for (const nothing of ['', ' []', ' ~', ' null', ' ""'])
    assert.deepEqual(load(`allowed_tools:${nothing}`).allowedTools, [], nothing);
});

test('F11 a restricting key that is not known here turns the skill off, with an error that names the key', () => {
  for (const front of [
    'denied-tools: Bash',
    'deniedTools: [Bash]',
    'deny:\n  - Bash',
    'blocked-tools: Bash',
    'excluded_tools: Bash',
    'forbidden-commands: rm',
    'tool-restrictions: no bash',
    'allowed-domains: example.com',
    'allow-users: ann',
    'read-only: true',
    'readonly: yes',
    'requires-approval: true',
    'disabled: true',
    'enabled: false',
    'permissions:\n  bash: deny',
    'permission: {"edit": "ask"}',
    'permissionMode: plan',
    'permission-mode: dontAsk',
    'tools:\n  bash: false',
    'hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks: x',
    'metadata:\n  openclaw:\n    deniedTools: [bash]',
  ]) {
    const { access, diagnostics } = load(front);
    assert.equal(access.optIn, true, front);
    const [key = ''] = front.split(':');
    const said = diagnostics.find(({ code }) => code === 'RESTRICTION_NOT_KEPT');
    assert.equal(said?.level, 'error', front);
    const plain = (text: string): string => text.replace(/[-_]/g, '').toLowerCase();
    assert.ok(plain(said.message).includes(plain(key)), said.message);
    assert.match(said.message, /enabled = true/);
  }
});

test('F11 keys that restrict nothing leave the skill on', () => {
  for (const front of [
    'read-only: false',
    'disabled: false',
    'enabled: true',
    'denied-tools: []',
    'requires-approval: no',
    'permissions: [network, files]',
    'permissionMode: acceptEdits',
    'category: allowlists',
    'triggers: [deny]',
    'homepage: https://example.com',
    'color: blue',
    'arguments: [issue]',
    'shell: bash',
  ])
    assert.deepEqual([load(front).access.optIn, saidOf(front)], [false, []], front);
});

test('F11 effort, paths and hooks are named, and when_to_use and paths join the description in the list and the search', () => {
  assert.deepEqual(saidOf('effort: high'), ['note EFFORT_NOT_READ effort']);
  assert.deepEqual(saidOf('hooks:\n  PostToolUse: x'), ['warning HOOKS_NOT_RUN hooks']);
  assert.deepEqual(saidOf('paths: "src/**/*.ts"'), ['note PATHS_TOLD paths']);
  const skill = load('when_to_use: Use it for\n  invoices.\npaths: "src/**, *.csv"');
  assert.equal(skill.whenToUse, 'Use it for invoices. For files such as src/**, *.csv.');
  const { text } = renderCatalogue([skill], { format: 'markdown', budgetChars: 4_000 });
  assert.match(text, /- tool: d Use it for invoices\. For files such as src\/\*\*, \*\.csv\./);
  assert.equal(searchSkills([skill], 'invoices').length, 1);
  assert.equal(load(`when-to-use: ${'x'.repeat(3_000)}`).whenToUse?.length, 1_024);
});

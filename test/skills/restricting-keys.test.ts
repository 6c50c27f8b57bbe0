import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parseSkill } from '../../src/skills/parse/parse-skill.ts';
import { renderCatalogue } from '../../src/skills/catalogue.ts';
import { searchSkills } from '../../src/core/search-skills.ts';
import { knownKeys, knownMetadata } from '../../src/skills/parse/known-keys.ts';
import type { Definition } from '../../src/skills/parse/skill-definition.ts';
import { skillText } from './make-root.ts';
import { readFront } from './read-skill.ts';

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

test('F11 paths and hooks are named, and when_to_use and paths join the description in the list and the search', () => {
  assert.deepEqual(saidOf('hooks:\n  PostToolUse: x'), ['warning HOOKS_NOT_RUN hooks']);
  assert.deepEqual(saidOf('paths: "src/**/*.ts"'), ['note PATHS_TOLD paths']);
  const skill = load('when_to_use: Use it for\n  invoices.\npaths: "src/**, *.csv"');
  assert.equal(skill.whenToUse, 'Use it for invoices. For files such as src/**, *.csv.');
  const { text } = renderCatalogue([skill], { format: 'markdown', budgetChars: 4_000 });
  assert.match(text, /- tool: d Use it for invoices\. For files such as src\/\*\*, \*\.csv\./);
  assert.equal(searchSkills([skill], 'invoices').length, 1);
  assert.equal(load(`when-to-use: ${'x'.repeat(3_000)}`).whenToUse?.length, 1_024);
});

/** Lines of front matter, what the skill has from them, and the problems. */
const rows: readonly (readonly [front: string, has: object | 'off', ...problems: string[]])[] = [
  ['tools: Read, Grep', { allowedTools: ['Read', 'Grep'] }],
  ['tools: gh Read', { allowedTools: ['gh', 'Read'] }],
  ['tools: gh jq', {}],
  ['tools: mcp_x', { allowedTools: ['mcp_x'] }],
  ['tools: amcp_x', {}],
  ['tools: "*"', { allowedTools: ['*'] }],
  ['tools: Read(x)', { allowedTools: ['Read(x)'] }],
  ['tools: Read2', {}],
  ['tools: aRead', {}],
  ['tools: skills.list', { allowedTools: ['skills.list'] }],
  ['tools: skills_list', { allowedTools: ['skills_list'] }],
  ['tools: R', {}],
  ['tools: [[a]]', {}],
  ['allowed-tools: Read\ntools: Write', { allowedTools: ['Read'] }],
  ['allowed-tools: []\ntools: Write', { allowedTools: [] }],
  ['tools: ""', {}],
  ['when-to-use: Now  and\n  then', { whenToUse: 'Now and then' }],
  ['when-to-use: ""', {}],
  ['disallowed-tools: [[a]]', 'off', '4 error FIELD_INVALID disallowed_tools'],
  ['when-to-use: ""\npaths: a', { whenToUse: 'For files such as a.' }, '5 note PATHS_TOLD paths'],
  [
    'deny: x\neffort: high',
    { others: { deny: 'x' }, access: { optIn: true }, effort: 'high' },
    '4 error RESTRICTION_NOT_KEPT deny',
  ],
  ['permissionMode: " default "', {}],
  ['permission_mode: manual', {}],
  ['permission_mode: auto', {}],
  ['permission_mode: acceptEdits', {}],
  ['permission_mode: bypassPermissions', {}],
  ['permission_mode:', {}],
  ['metadata:\n  deny: x', { metadata: { deny: 'x' } }],
  ['Version: 2', { others: { Version: '2' } }],
  ['argumentHint: x', { others: { argumentHint: 'x' } }],
  ['Allowed.Tools: Read', { allowedTools: ['Read'] }],
  ['" allowed-tools ": Read', { allowedTools: ['Read'] }],
  ['"allowed - tools": Read', { allowedTools: ['Read'] }],
  ['MAX-TURNS: 2', { maxIterations: 2 }],
  [`when-to-use: ${'x'.repeat(1024)}`, { whenToUse: 'x'.repeat(1024) }],
  [`when-to-use: ${'😀'.repeat(1025)}`, { whenToUse: `${'😀'.repeat(1023)}…` }],
  ['tools:\n  a: b', { access: { optIn: true } }, '4 error RESTRICTION_NOT_KEPT tools'],
  ['paths: a, b', { whenToUse: 'For files such as a, b.' }, '4 note PATHS_TOLD paths'],
  ['paths: ","', {}, '4 note PATHS_TOLD paths'],
  ['paths: {a: b}', {}, '4 note PATHS_TOLD paths', '4 warning FIELD_INVALID paths'],
  ['paths: [a, [b]]', {}, '4 note PATHS_TOLD paths', '4 warning FIELD_INVALID paths'],
  ['paths: []\nwhen-to-use: y', { whenToUse: 'y' }, '4 note PATHS_TOLD paths'],
  ['permission-mode: plan', { access: { optIn: true } }, '4 error RESTRICTION_NOT_KEPT permission_mode'],
  ['permission_mode: Plan', { access: { optIn: true } }, '4 error RESTRICTION_NOT_KEPT permission_mode'],
  ['permission_mode: [plan]', { access: { optIn: true } }, '4 error RESTRICTION_NOT_KEPT permission_mode'],
  ['hooks:\n  Stop: x', {}, '4 warning HOOKS_NOT_RUN hooks'],
  ['hooks: PreToolUse', { access: { optIn: true } }, '4 error RESTRICTION_NOT_KEPT hooks'],
  ['hooks:\n  PermissionRequest: x', { access: { optIn: true } }, '4 error RESTRICTION_NOT_KEPT hooks'],
  ['hooks: {UserPromptSubmit: x}', { access: { optIn: true } }, '4 error RESTRICTION_NOT_KEPT hooks'],
  ['hooks: PermissionDenied', { access: { optIn: true } }, '4 error RESTRICTION_NOT_KEPT hooks'],
  ['effort: high', { effort: 'high' }],
  ['effort: huge', {}, '4 warning FIELD_INVALID effort'],
  ['effort: [a]', {}, '4 warning FIELD_INVALID effort'],
  [
    'metadata:\n  openclaw:\n    denied-tools: x',
    { metadata: { openclaw: 'denied-tools: x' }, access: { optIn: true } },
    '4 error RESTRICTION_NOT_KEPT metadata',
  ],
  [
    'metadata:\n  clawdbot:\n    read-only: yes',
    { metadata: { clawdbot: 'read-only: yes' }, access: { optIn: true } },
    '4 error RESTRICTION_NOT_KEPT metadata',
  ],
  [
    'metadata:\n  other:\n    deny: x',
    { metadata: { other: 'deny: x' } },
    '5 warning METADATA_AS_TEXT metadata',
  ],
  [
    'permissionMode: plan\nhooks: PreToolUse\ntools: {a: b}\ndeny: x',
    { others: { deny: 'x' }, access: { optIn: true } },
    '7 error RESTRICTION_NOT_KEPT deny',
    '4 error RESTRICTION_NOT_KEPT permission_mode',
    '5 error RESTRICTION_NOT_KEPT hooks',
    '6 error RESTRICTION_NOT_KEPT tools',
  ],
  [
    'enabled: false\nopt-in: maybe',
    'off',
    '4 error RESTRICTION_NOT_KEPT enabled',
    '5 error FIELD_INVALID opt_in',
  ],
  ['Effort: high', { effort: 'high' }],
];

test('F11 what keys of other programs take away from a skill, and what is said of it', () => {
  for (const row of rows) {
    const [front] = row;
    assert.deepEqual([front, ...readFront(front)], row);
    // A comment has the text read by the other parser.
    assert.deepEqual([front, ...readFront(`${front}\n# comment`)], row);
  }
});

test('F11 each word in a key that forbids or limits something turns the skill off, words like it do not', () => {
  const isOff = (key: string): boolean => load(`${key}: x`).access.optIn;
  const words =
    'allow allowed allows allowlist disallow disallows disallowlist deny denied denies denylist forbid forbidden forbids block blocked blocks blocklist ban banned exclude excludes excluded exclusion exclusions restrict restricted restricts restriction restrictions prohibit prohibited prohibits blacklist whitelist readonly read_only approval approvals confirm confirmation disable disabled'.split(
      ' ',
    );
  const near =
    'allowance disallowing denying forbidding blocker banner exclusive restrictive prohibitive greylist readonlyish approve confirming disabling enabling unblocked preapproval x_y'.split(
      ' ',
    );
  for (const word of words)
    assert.deepEqual([word, isOff(word), isOff(`my-${word}`), isOff(`${word}-it`)], [word, true, true, true]);
  for (const word of near) assert.deepEqual([word, isOff(word)], [word, false]);
});

test('F11 a value that says no restricts nothing, except under enabled; permissions restrict by their words', () => {
  const valuesThatRestrict = (key: string, values: readonly string[]): readonly string[] =>
    values.filter((value) => load(`${key}: ${value}`).access.optIn);
  const no = ['false', 'No', '"off"', '0', 'none', 'NULL', '~', '[]', '[  ]', '{}', '{  }', '" no "'];
  const yes = ['true', 'noo', 'an off', 'x []', '"[] x"', '[a]', '{a: b}', '00'];
  const nothing = ['', '" "'];
  assert.deepEqual(valuesThatRestrict('denied', [...no, ...yes, ...nothing]), yes);
  assert.deepEqual(valuesThatRestrict('enabled', [...no, ...yes, ...nothing]), no);
  const forbid =
    'deny denied disallow disallowed forbid forbidden block blocked ask never false none read-only readonly'.split(
      ' ',
    );
  const free = ['denying', 'task', 'asks', 'true', 'network', 'nonesuch', 'unblock', '""'];
  for (const key of ['permission', 'permissions'])
    assert.deepEqual(valuesThatRestrict(key, [...forbid, 'x DENY, y', ...free]), [...forbid, 'x DENY, y']);
});

test('F11 the reference page has each known key with its format, what it does and what it means here', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../docs/reference/skill-keys.md'), 'utf8');
  let dialect = '';
  const written = page.split('\n').flatMap((line) => {
    dialect = /^## (.*)/.exec(line)?.[1] ?? dialect;
    const [, key, kind, here] = /^\| `([^`]+)` \| (?:(\w*) )?\| (.*) \|$/.exec(line) ?? [];
    const [, below, meaning] = /^\| `([^`]+)` \| ([^|]*) \|$/.exec(line) ?? [];
    if (below !== undefined) return [[dialect, below, meaning]];
    return key === undefined ? [] : [[dialect, key, kind ?? '', here]];
  });
  const kinds = { describes: '', limits: 'limits', grants: 'grants', restricts: 'restricts' };
  assert.deepEqual(written, [
    ...[...knownKeys].map(([key, is]) => [is.dialect, key.replaceAll('_', '-'), kinds[is.does], is.means]),
    ...Object.entries(knownMetadata).map(([key, means]) => ['Below metadata.openclaw', key, means]),
  ]);
});

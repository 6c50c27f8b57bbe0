import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFront, problemsOf, readFront } from './read-skill.ts';

/** Lines of front matter, what the skill has from them, and the problems. */
type Row = readonly [front: string, has: object | 'off', ...problems: string[]];

const label = 'a'.repeat(63);

const fine: readonly Row[] = [
  ['license: MIT', { license: 'MIT' }],
  ['license: "  MIT  "', { license: 'MIT' }],
  ['license:', { license: '' }],
  ['rationale: because', { rationale: 'because' }],
  ['rationale: ""', {}],
  ['version: 1.10', { version: '1.10' }],
  ['version: 1.2 # x', { version: '1.2' }],
  ['tags: a, b c,, "d"', { tags: ['a', 'b c', '"d"'] }],
  ['tags: [a, " ", b]', { tags: ['a', 'b'] }],
  ['author: Ada, Bob', { authors: ['Ada', 'Bob'] }],
  ['authors: [Ada, Cy]', { authors: ['Ada', 'Cy'] }],
  ['author: Ada\nauthors:\n  - Ada\n  - Bob', { authors: ['Ada', 'Bob'] }],
  ['metadata:', {}],
  ['metadata: ""', {}],
  ['metadata: {openclaw: {a: b}, clawdbot: [x]}', { metadata: { openclaw: '{a: b}', clawdbot: '[x]' } }],
  ['allowed-tools: Read', { allowedTools: ['Read'] }],
  ['allowed-tools: Bash(git (a b), c), Read', { allowedTools: ['Bash(git (a b), c)', 'Read'] }],
  ['allowed-tools: Read) Bash(x y)', { allowedTools: ['Read)', 'Bash(x y)'] }],
  ['allowed-tools:\n  - Read\n  - Bash(git *)', { allowedTools: ['Read', 'Bash(git *)'] }],
  ['allowed-tools: " null "', { allowedTools: [] }],
  ['allowed-tools: "~ ~"', { allowedTools: ['~', '~'] }],
  ['allowed-tools: anull', { allowedTools: ['anull'] }],
  ['allowed-tools: nulls', { allowedTools: ['nulls'] }],
  ['disallowed-tools: Bash', { disallowedTools: ['Bash'] }],
  ['disallowed-tools: [" "]', { disallowedTools: [] }],
  ['disallowed-tools: ","', { disallowedTools: [] }],
  ['disallowed-tools: []', { disallowedTools: [] }],
  ['env: A_KEY, _B2  C', { env: ['A_KEY', '_B2', 'C'] }],
  ['env: [A, A]', { env: ['A'] }],
  ['env: A,,B', { env: ['A', 'B'] }],
  ['packages: jq g++ lib2.0', { packages: ['jq', 'g++', 'lib2.0'] }],
  ['capabilities: notes.read a-1_b.c-2_d', { capabilities: ['notes.read', 'a-1_b.c-2_d'] }],
  [
    'network: [example.com, "*.a-b.example", LOCALHOST, a1, x.1a]',
    { network: ['example.com', '*.a-b.example', 'LOCALHOST', 'a1', 'x.1a'] },
  ],
  ['network: 1a', { network: ['1a'] }],
  ['network: a-1.b-2', { network: ['a-1.b-2'] }],
  ['sensitive: TRUE', { access: { sensitive: true } }],
  ['sensitive: " yes "', { access: { sensitive: true } }],
  ['sensitive: 0', {}],
  ['opt-in: 1', { access: { optIn: true } }],
  ['user-invocable: No', { access: { userInvocable: false } }],
  ['disable-model-invocation: true', { access: { disableModelInvocation: true } }],
  ['access: {}', {}],
  ['access:\n  chat_types: dm, im mpim', { access: { chatTypes: ['private', 'group'] } }],
  ['access:\n  chat_types: [Private, CHANNEL, dm]', { access: { chatTypes: ['private', 'channel'] } }],
  ['access:\n  chat_types:\n    - group\n    - supergroup', { access: { chatTypes: ['group'] } }],
  ['access:\n  chat-types: []', {}],
  ['model: haiku', { model: 'haiku' }],
  ['agent: coder', { agent: 'coder' }],
  ['max_iterations: 1', { maxIterations: 1 }],
  ['max-iterations: 999999999', { maxIterations: 999999999 }],
  ['max-iterations: " 7 "', { maxIterations: 7 }],
  ['max-turns: 3', { maxIterations: 3 }],
  ['max_iterations: 4\nmax-turns: 3', { maxIterations: 4 }],
  ['timeout-seconds: 60', { timeoutSeconds: 60 }],
  ['context: inline', { context: 'inline' }],
  ['context: " fork "', {}],
  ['background: yes', { background: true }],
  ['argument-hint: <file>', { argumentHint: '<file>' }],
  ['argument-hint: [file]', { argumentHint: '[file]' }],
  ['argument-hint: {a: b}', { argumentHint: '{a: b}' }],
  ['argument-hint: "  x "', { argumentHint: 'x' }],
  ['homepage: https://a.b', { others: { homepage: 'https://a.b' } }],
  ['color: blue\nshell: bash\nmemory: [a]', { others: { color: 'blue', shell: 'bash', memory: '[a]' } }],
  ['my-key: {a: 1}', { others: { my_key: '{a: 1}' } }],
  ['mcp-servers:\n  - x', { others: { mcp_servers: '- x' } }],
  [`network: ${label}.com`, { network: [`${label}.com`] }],
  [`network: com.${label}`, { network: [`com.${label}`] }],
];

const told: readonly Row[] = [
  ['license: a # b', { license: 'a' }, '4 warning COMMENT_CUTS_VALUE license'],
  ['compatibility: Linux # or so', { compatibility: 'Linux' }, '4 warning COMMENT_CUTS_VALUE compatibility'],
  ['rationale: a # b', { rationale: 'a' }, '4 warning COMMENT_CUTS_VALUE rationale'],
  [
    'metadata:\n  a: 1\n  b:\n    - c\n  d: {e: f}',
    { metadata: { a: '1', b: '- c', d: '{e: f}' } },
    '6 warning METADATA_AS_TEXT metadata',
    '8 warning METADATA_AS_TEXT metadata',
  ],
  [
    'metadata:\n  tags:\n    a: b',
    { metadata: { tags: 'a: b' } },
    '5 warning METADATA_AS_TEXT metadata',
    '5 warning FIELD_INVALID tags',
  ],
  ['allowed-tools: Read\nallowed_tools: Write', 'off', 'error FIELD_TWICE allowed_tools'],
  ['max_iterations: x\nmax-turns: 3', { maxIterations: 3 }, '4 warning FIELD_INVALID max_iterations'],
  ['argument-hint: [file] [n]', { argumentHint: '[file] [n]' }, 'warning YAML_REPAIRED argument-hint'],
  ['argument-hint: a # b', { argumentHint: 'a' }, '4 warning COMMENT_CUTS_VALUE argument_hint'],
  [
    'metadata:\n  author: Ada\n  authors: Bob\n  version: 2\n  tags: [x]\n  rationale: y',
    {
      metadata: { author: 'Ada', authors: 'Bob', version: '2', tags: '[x]', rationale: 'y' },
      version: '2',
      tags: ['x'],
      authors: ['Ada', 'Bob'],
      rationale: 'y',
    },
    '8 warning METADATA_AS_TEXT metadata',
  ],
];

test('F6 a skill of a name, a description and a body has the defaults', () => {
  const result = parseFront('');
  assert.ok(result.ok);
  const { metadata, others, ...rest } = result.definition;
  assert.deepEqual([Object.entries(metadata), Object.entries(others)], [[], []]);
  assert.deepEqual(rest, {
    name: 'tool',
    description: 'd',
    origin: 'workspace',
    path: '/root/tool/SKILL.md',
    directory: '/root/tool',
    root: undefined,
    flat: false,
    tags: [],
    authors: [],
    env: [],
    programs: [],
    installs: {},
    python: [],
    packages: [],
    capabilities: [],
    network: [],
    access: { sensitive: false, optIn: false, disableModelInvocation: false, userInvocable: true },
    maxIterations: 10,
    timeoutSeconds: 300,
    context: 'fork',
    background: false,
    agent: 'general',
    diagnostics: [],
  });
});

test('F6 F8 what each key gives a skill, and what is said of it', () => {
  for (const row of [...fine, ...told]) {
    const [front] = row;
    assert.deepEqual([front, ...readFront(front)], row);
    // A comment has the text read by the other parser.
    assert.deepEqual([front, ...readFront(`${front}\n# comment`)], row);
  }
});

type Values = Readonly<Record<string, readonly string[]>>;

/** Invalid values of keys that grant or restrict. */
const broken: Values = {
  'allowed-tools': ['" , "', '[" "]', '[[a]]', '{a: b}'],
  'disallowed-tools': ['\n  a: b'],
  env: ['a', '1A', 'AbC', '"A-"'],
  packages: ['J', 'j', '"-jq"', 'jq_x'],
  capabilities: ['notes', 'Notes.read', 'notes.2', 'notes.read.x'],
  network: [
    '-a.com',
    'a-.com',
    'a.com.',
    '"*.*.com"',
    '1.2',
    'a.1',
    'a_b.com',
    'a..b',
    'a.b:80',
    'com.-a',
    'com.a-',
    `${label}a.com`,
    `com.${label}a`,
  ],
  sensitive: ['2', '[true]', ''],
  opt_in: ['maybe'],
  'user-invocable': ['off'],
  'disable-model-invocation': ['x'],
  access: [
    '\n  chat_types: [" "]',
    '\n  chat_types: ","',
    '\n  chat_types: {a: b}',
    '\n  chat_types: dm\n  chat-types: im',
    '\n  chat_types: [dm, public]',
    '\n  chat_types: [dm]\n  users: [a]',
    '[dm]',
  ],
};

test('F8 D7 an invalid value of a key that grants or restricts is told with its line, and the skill is off', () => {
  for (const front of frontsOf(broken))
    assert.deepEqual(readFront(front), ['off', `4 error FIELD_INVALID ${fieldOf(front)}`], front);
});

/** Invalid values of other keys. */
const useless: Values = {
  license: ['[a]'],
  compatibility: ['{a: b}'],
  rationale: ['[a]'],
  version: ['[1]'],
  tags: ['\n  - a\n  - [b]', '\n  a: b'],
  author: ['{name: Ada}'],
  metadata: ['text', '[a]'],
  model: ['" "', '{a: b}'],
  agent: ['""', '[a]'],
  max_iterations: ['0'],
  'max-iterations': ['1000000000', '7.5', 'x7', '7x', '[7]'],
  'max-turns': ['none'],
  'timeout-seconds': ['-1'],
  context: ['Inline', '[inline]', 'inlined'],
  background: ['maybe'],
  'argument-hint': ['\n  - a'],
  'when-to-use': ['[a]'],
};

test('F8 an invalid value of any other key is told with its line, and the skill is as without it', () => {
  for (const front of frontsOf(useless))
    assert.deepEqual(readFront(front), [{}, `4 warning FIELD_INVALID ${fieldOf(front)}`], front);
});

test('F8 what is said of an invalid value shows the value, at most 60 characters of it', () => {
  const rows: readonly (readonly [front: string, shows: string])[] = [
    ['sensitive: maybe', '"maybe"'],
    ['sensitive:\n  - a', 'a list'],
    ['access: private', '"private"'],
    ['access:\n  chats: x', '"chats"'],
    ['access:\n  chat_types: dm, public', '"public"'],
    ['access:\n  chat_types: [public]', 'private, group, channel'],
    ['access:\n  chat_types: ","', 'private, group, channel'],
    ['env: [A, b, c]', '"b"'],
    ['env: [A, [B]]', 'item 2'],
    ['packages: [{a: b}]', 'a map'],
    [`sensitive: ${'x'.repeat(60)}`, `"${'x'.repeat(60)}"`],
    [`sensitive: ${'x'.repeat(61)}`, `"${'x'.repeat(60)}…"`],
  ];
  for (const [front, shows] of rows) {
    const result = parseFront(front);
    const [said] = result.ok ? [] : result.diagnostics;
    assert.deepEqual(problemsOf(said === undefined ? [] : [said]), [
      `4 error FIELD_INVALID ${fieldOf(front)}`,
    ]);
    assert.ok(said?.message.includes(shows), said?.message);
  }
});

function frontsOf(values: Values): readonly string[] {
  return Object.entries(values).flatMap(([key, all]) => all.map((value) => `${key}: ${value}`));
}

function fieldOf(front: string): string {
  return front.replace(/:[^]*/, '').replaceAll('-', '_');
}

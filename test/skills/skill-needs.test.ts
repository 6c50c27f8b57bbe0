import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFront } from './read-skill.ts';

type Needs = Readonly<{
  env?: readonly string[];
  programs?: readonly string[];
  python?: readonly string[];
  installs?: Readonly<Record<string, string>>;
}>;

/** What stands below `metadata.openclaw`, the needs of the skill, and the problems. */
type Row = readonly [openclaw: string, needs: Needs, ...problems: string[]];

const invalid = (line: number): string => `${line} warning FIELD_INVALID metadata`;
const long = 'a'.repeat(120);

const rows: readonly Row[] = [
  [
    'requires: {bins: "jq, curl", env: [A], pip: "a>=1, b"}',
    { env: ['A'], programs: ['jq', 'curl'], python: ['a', 'b'] },
  ],
  ['requires: {bins: [jq, jq, 2to3, g++, a_b.c]}', { programs: ['jq', '2to3', 'g++', 'a_b.c'] }],
  [
    'requires: {pip: [a_b.c-d, " x ; y", "p[q]", "n==1", "m~=2", "u @ v", "w!=1", "h#i", "j<k", "z"]}',
    { python: ['a_b.c-d', 'x', 'p', 'n', 'm', 'u', 'w', 'h', 'j', 'z'] },
  ],
  ['requires: {pip: ["-r z", "a-", "[x]", ".a", "a/b", "-", "?a"]}', {}],
  ['requires: {pip: [[a]]}', {}, invalid(6)],
  ['requires: {bins: {a: b}}', {}, invalid(6)],
  ['requires:\n    env: lower\n    bins: "a b;c"\n    pip: {x: y}', {}, invalid(7), invalid(8), invalid(9)],
  ['requires: [bins]', {}],
  ['install: {kind: apt, package: a}', {}],
  ['install: [apt, [apt], {kind: [apt], package: a}, {kind: apt, package: [a]}, {kind: apt}]', {}],
  ['install: [{kind: npm, package: a}, {kind: toString, package: b}, {package: c}]', {}],
  [
    'install: [{kind: apt, package: jq}, {kind: brew, formula: x/y/gh}]',
    { installs: { jq: 'apt-get install jq' } },
  ],
  [
    'install: [{kind: pip, package: httpie, bin: http}, {kind: uv, package: b, bin: "b c"}]',
    { installs: { http: 'pipx install httpie', b: 'uv tool install b' } },
  ],
  [
    'install: [{kind: apt, package: a, bins: "b c"}, {kind: pip, package: d, bins: [b]}, {kind: pip, package: e, bins: ["/x"]}]',
    { installs: { b: 'apt-get install a', c: 'apt-get install a', e: 'pipx install e' } },
  ],
  [
    `install: [{kind: apt, package: ${long}, bins: [x]}, {kind: apt, package: ${long}a, bins: [y]}]`,
    { installs: { x: `apt-get install ${long}` } },
  ],
  ['install: [{kind: apt, package: "a b", bins: [x]}, {kind: apt, package: "", bins: [y]}]', {}],
];

test('F6 what metadata.openclaw says a skill needs: variables, programs, Python packages, and how to get a program', () => {
  for (const row of rows) {
    const [openclaw] = row;
    const [has, ...problems] = readFront(
      `metadata:\n  openclaw:\n    ${openclaw.replaceAll('\n  ', '\n    ')}`,
    );
    assert.ok(typeof has === 'object', openclaw);
    const { metadata: _metadata, ...needs } = has;
    assert.deepEqual([openclaw, needs, ...problems], row);
  }
});

test('F6 needs are read below each name of OpenClaw and below metadata; the first way to get a program counts', () => {
  const [has, ...problems] = readFront(`metadata:
  openclaw: {requires: {bins: [a]}, install: [{kind: apt, package: a, bins: [t]}]}
  clawdbot: {requires: {bins: [b]}}
  moltbot: {requires: {bins: [a, c]}}
  requires: {bins: d}
  install: [{kind: pip, package: b, bins: [t]}]`);
  assert.ok(typeof has === 'object');
  assert.deepEqual(
    [has['programs'], has['installs'], ...problems],
    [
      ['a', 'b', 'c', 'd'],
      { t: 'apt-get install a' },
      '8 warning METADATA_AS_TEXT metadata',
      '9 warning METADATA_AS_TEXT metadata',
    ],
  );
});

test('F6 each kind of install of OpenClaw is a command', () => {
  const kinds: readonly (readonly [item: string, way: string])[] = [
    ['kind: apt, package: a', 'apt-get install a'],
    ['kind: brew, formula: b', 'brew install b'],
    ['kind: brew, package: b', 'brew install b'],
    ['kind: cargo, crate: c', 'cargo install c'],
    ['kind: download, url: "https://x.example/d"', 'download https://x.example/d'],
    ['kind: go, module: e.x/y@latest', 'go install e.x/y@latest'],
    ['kind: node, package: "@f/g"', 'npm install -g @f/g'],
    ['kind: pip, package: h', 'pipx install h'],
    ['kind: uv, package: i', 'uv tool install i'],
  ];
  for (const [item, way] of kinds) {
    const [has] = readFront(`metadata: {openclaw: {install: [{${item}, bins: [tool]}]}}`);
    assert.ok(typeof has === 'object', item);
    assert.deepEqual([item, has['installs']], [item, { tool: way }]);
  }
});

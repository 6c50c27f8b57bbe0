import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateSkill, validateTree } from '../../src/skills/parse/validate-skill.ts';
import { makeRoot, skillText } from './make-root.ts';

function validate(text: string, strict = false): readonly string[] {
  const file = { path: '/root/tool/SKILL.md', directory: '/root/tool', bytes: Buffer.from(text) };
  return validateSkill(file, { strict }).map(
    ({ level, code, field }) => `${level} ${code}${field ? ` ${field}` : ''}`,
  );
}

test('F5 validate reports all problems at once, unknown keys and flow style as warnings', () => {
  assert.deepEqual(validate(skillText('name: tool\ndescription: d')), []);
  assert.deepEqual(
    validate(skillText(`name: Tool--x\nfoo: bar\ntags: [a]\ncompatibility: ${'c'.repeat(501)}`, '# T')),
    [
      'error DESCRIPTION_MISSING description',
      'error NAME_INVALID name',
      'error NAME_INVALID name',
      'error NAME_INVALID name',
      'error FIELD_INVALID compatibility',
      'warning FIELD_UNKNOWN foo',
      'warning YAML_FLOW tags',
    ],
  );
});

test('F6 validate wants what the table wants', () => {
  assert.deepEqual(validate(skillText('name: other\ndescription: d')), ['error NAME_INVALID name']);
  assert.deepEqual(validate(skillText('description: d')), ['note NAME_MISSING name']);
  assert.deepEqual(validate(skillText(`name: tool\ndescription: ${'d'.repeat(1025)}`)), [
    'error DESCRIPTION_TOO_LONG description',
  ]);
  assert.deepEqual(validate(skillText('name: tool\ndescription: a: b')), ['error YAML_REPAIRED description']);
  assert.deepEqual(validate(skillText('name: tool\ndescription: d\nmetadata:\n  a:\n    b: c')), [
    'error METADATA_NOT_TEXT metadata',
  ]);
  assert.deepEqual(validate(skillText('name: tool\ndescription: d\ncompatibility: ""')), [
    'error FIELD_INVALID compatibility',
  ]);
  assert.deepEqual(
    validate(skillText('name: tool\ndescription: d\nargument-hint: x\nsensitive: true\nenv:\n  - A')),
    [],
  );
});

test('F5 strict takes the six keys of the specification, block style and a beginning at byte 0', () => {
  const fine = skillText(
    'name: tool\ndescription: d\nlicense: MIT\nmetadata:\n  a: b\nallowed-tools: Bash\ncompatibility: c',
  );
  assert.deepEqual(validate(fine, true), []);
  const cases: readonly [string, string][] = [
    [`\uFEFF${fine}`, 'FRONT_MATTER_MISSING'],
    [`\n${fine}`, 'FRONT_MATTER_MISSING'],
    ['---\nname: tool\ndescription: d\n', 'FRONT_MATTER_UNCLOSED'],
    [skillText('name: tool\ndescription: d\nversion: 1'), 'FIELD_UNKNOWN'],
    [skillText('name: tool\ndescription: d\nallowed_tools: Bash'), 'FIELD_UNKNOWN'],
    [skillText('name: tool\ndescription: d\nmetadata: {a: b}'), 'YAML_FLOW'],
    [skillText('name: &a tool\ndescription: d'), 'YAML_ANCHOR'],
    [skillText('name: !!str tool\ndescription: d'), 'YAML_TAG'],
    [skillText('name: tool\nname: tool\ndescription: d'), 'YAML_ERROR'],
    [skillText('name: tool\ndescription: a\tb'), 'YAML_ERROR'],
    [
      skillText('name: tool\ndescription: d\nmetadata:\n  a:\n    b: c\n  d:\n      e: f'),
      'YAML_INDENTATION',
    ],
    [skillText('name: Tool\ndescription: d'), 'NAME_INVALID'],
    [skillText('name: tool\ndescription: "  "'), 'DESCRIPTION_MISSING'],
    [skillText(`name: tool\ndescription: "${'é'.repeat(1025)}"`), 'DESCRIPTION_TOO_LONG'],
    [skillText(`name: tool\ndescription: d\ncompatibility: ${'c'.repeat(501)}`), 'FIELD_INVALID'],
    ['plain text', 'FRONT_MATTER_MISSING'],
  ];
  for (const [text, code] of cases) {
    const found = validate(text, true);
    assert.ok(found[0]?.startsWith(`error ${code}`), `${code}: ${found.join()} in ${JSON.stringify(text)}`);
  }
});

test('F5 strict follows the reference where it is lenient', () => {
  assert.deepEqual(
    validate('---\nname: tool\ndescription: d---\nBody', true),
    [],
    'the next dashes anywhere close',
  );
  assert.deepEqual(validate('---\r\nname: tool\r\ndescription: d\r\n---\r\n', true), [], 'no body is needed');
  assert.deepEqual(
    validate(skillText('name: tool\ndescription: "a\nb"'), true),
    [],
    'quoted text may go on at the first column',
  );
  assert.deepEqual(validate(skillText(`name: tool\ndescription: "${'é'.repeat(1024)}"`), true), []);
});

const broken: readonly (readonly [front: string, said: RegExp, line?: number])[] = [
  ['summary: a: b', /^summary has a value with ": " in it.* quotes$/, 4],
  ['metadata:\n  hint: a: b', /^hint has a value with ": " in it.* quotes$/, 5],
  [
    '<<<<<<< HEAD\nlicense: a\n=======\nlicense: b\n>>>>>>> theirs',
    /"<<<<<<< HEAD" is left of a merge conflict/,
    4,
  ],
  [
    'metadata: {"bins":["bc"],["touch"]}',
    /list or map stands where a key belongs|\[ \] and .* not allowed/,
    4,
  ],
  ['metadata: {a: b\nlicense: x', /\[ or { is not closed/, 5],
  ['license: [Use this', /\[ or { is not closed/],
  ['license: "a" b', /^something follows the end of the value: put the whole value in quotes/, 4],
  ["license: 'it's'", /put the whole value in quotes, and write ' as ''/, 4],
  ['license: "abc', /never closed: add the closing one/],
  ['license: "a\\d"', /a backslash in "…" begins an escape/, 4],
  ['license: @x', /cannot begin with this character: put the whole value in quotes/, 4],
  ['just text', /^"just text" is no line of "key: value"/, 4],
  ['metadata:\n\ta: b', /use spaces/],
  ['metadata:\n  a: b\n c: d', /indent this one like the others/, 6],
  ['metadata:\n  - a\n - b', /indent this one like the others/, 6],
  ['license: |x', /text begins on the next line/, 4],
  ['license: - a', /a list begins on the line below its key/, 4],
  ['license: [a,,b]', /comma or bracket too many/, 4],
  ['license: !x y', /begins a tag: put it in quotes/, 4],
];
/** Words of the parser. */
const raw = /mapping|implicit|flow |scalar|stringKeys|token|sequence|node end|indicator|collection/i;

test('F5 what is wrong with YAML is said in plain words, with its line and what to write, strict or not', () => {
  for (const [front, said, line] of broken) {
    const text = skillText(`name: tool\ndescription: d\n${front}`);
    const file = { path: '/root/tool/SKILL.md', directory: '/root/tool', bytes: Buffer.from(text) };
    for (const strict of [false, true]) {
      const [found] = validateSkill(file, { strict }).filter(({ level }) => level === 'error');
      assert.match(found?.message ?? '', said, `${front} strict ${strict}`);
      assert.doesNotMatch(found?.message ?? '', raw);
      if (line !== undefined) assert.equal(found?.line, line, `${front} strict ${strict}`);
    }
  }
  const [colon] = validate(skillText('name: tool\ndescription: Use it: now'), true);
  assert.equal(colon, 'error YAML_ERROR');
});

test('F5 validate takes a file, a skill folder or a whole tree', (t) => {
  const root = makeRoot(t, {
    'good/SKILL.md': skillText('name: good\ndescription: d'),
    'more/bad/SKILL.md': skillText('name: good\ndescription: d'),
    'flat.md': skillText('name: flat\ndescription: d'),
    'README.md': '# Read me',
    '.hidden/x/SKILL.md': 'nothing',
  });
  const results = (path: string): readonly string[] =>
    validateTree(path).map((result) => `${result.path.slice(root.length)} ${result.valid}`);
  assert.deepEqual(results(root), ['/flat.md true', '/good/SKILL.md true', '/more/bad/SKILL.md false']);
  assert.deepEqual(results(`${root}/more/bad`), ['/more/bad/SKILL.md false']);
  assert.deepEqual(results(`${root}/good/SKILL.md`), ['/good/SKILL.md true']);
  assert.deepEqual(results(`${root}/nowhere`), ['/nowhere false']);
});

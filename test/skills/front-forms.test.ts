import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFrontMatter } from '../../src/skills/parse/front-matter.ts';
import type { FrontMap, FrontValue } from '../../src/skills/parse/read-values.ts';
import { problemsOf } from './read-skill.ts';

/** Keys with their texts and lines, the body and the line of the YAML; or the problem and what D7 makes of it. */
function read(text: string, positions: boolean): readonly unknown[] {
  const result = readFrontMatter(text, { positions });
  const warnings = problemsOf(result.warnings);
  if (!result.ok)
    return [...problemsOf([result.problem]), ...(result.accessBroken ? ['off'] : []), ...warnings];
  const { front, body, yamlLine, repaired } = result.file;
  const texts = [...front].map(([key, value]) => [key, value.kind === 'text' ? value.text : value.kind]);
  return [Object.fromEntries(texts), body, yamlLine, ...repaired, ...warnings];
}

const x = (size: number): string => 'x'.repeat(size);
const language = '1 error FRONT_MATTER_LANGUAGE';
const missing = '1 error FRONT_MATTER_MISSING';
const unclosed = '1 error FRONT_MATTER_UNCLOSED';
const tooLarge = '1 error FRONT_MATTER_TOO_LARGE';
const mark = '1 warning BYTE_ORDER_MARK';
const blank = '1 warning BLANK_LINES_FIRST';

const forms: readonly (readonly [text: string, ...read: unknown[]])[] = [
  ['---\na: b\n---\nB', { a: 'b' }, 'B', 2],
  ['---\na: b\n---', { a: 'b' }, '', 2],
  ['---\na: b\n\n---\n\nB', { a: 'b' }, '\nB', 2],
  ['---  \t\na: b\n--- \t \nB', { a: 'b' }, 'B', 2],
  ['---\r\na: b\r\nc: "d"\r\n---\r\nB\r\n', { a: 'b', c: 'd' }, 'B\r\n', 2],
  ['---\r\na: b\r\n---', { a: 'b' }, '', 2],
  ['---\na: b\n --- \n---\nB', { a: 'b ---' }, 'B', 2],
  ['---\na: b\n---\nB\n---\nC', { a: 'b' }, 'B\n---\nC', 2],
  ['---\n---\nB', {}, 'B', 2],
  ['---\n# a\n---\nB', {}, 'B', 2],
  ['---\ndescription: a: b\n---\nB', { description: 'a: b' }, 'B', 2, 'description'],
  ['\uFEFF---\na: b\n---\nB', { a: 'b' }, 'B', 2, mark],
  ['\n \t\r\n---\na: b\n---\nB', { a: 'b' }, 'B', 4, blank],
  ['\uFEFF\n---\na: "\n---\nB', '4 error YAML_ERROR', mark, blank],
  ['\uFEFF\uFEFF---\na: b\n---\nB', missing, mark],
  ['', missing],
  ['a: b', missing],
  ['x---js\n---', missing],
  ['----\n---\n', missing],
  [' ---\na: b\n---\n', missing],
  ['---x', language],
  ['---js\na: b\n---\n', language],
  ['--- \t javascript\n---\n', language],
  ['---', unclosed],
  ['---\n', unclosed],
  ['---\na: b', unclosed],
  ['---\r\na: b\r\n---\r', unclosed.replace('1 error FRONT_MATTER_UNCLOSED', '3 error YAML_ERROR')],
  ['---\na: b\n---x\n---\nB', '3 error YAML_ERROR'],
  ['---\na: b\n----\n---\nB', '3 error YAML_ERROR'],
  ['---\na: b\nenv: A\n---x\n---\nB', '4 error YAML_ERROR', 'off'],
  ['---\ntext\n---\nB', '2 error YAML_NOT_A_MAP'],
  ['---\n- a\n---\nB', '2 error YAML_NOT_A_MAP'],
  ['---\n~\n---\nB', '2 error YAML_NOT_A_MAP'],
  ['---\n42\n---\nB', '2 error YAML_NOT_A_MAP'],
  ['---\n2024-01-01\n---\nB', '2 error YAML_NOT_A_MAP'],
  [`---\na: ${x(8188)}\n---\nB`, { a: x(8188) }, 'B', 2],
  [`---\na: ${x(8189)}\n---\nB`, tooLarge],
  [`---\na: ${'é'.repeat(4094)}\n---\nB`, { a: 'é'.repeat(4094) }, 'B', 2],
  [`---\na: ${'é'.repeat(4094)}y\n---\nB`, tooLarge],
  [`---\na: ${x(20_000)}\n---\nB`, tooLarge],
  [`---\na: ${x(20_000)}`, tooLarge],
  [`---\na: ${x(8188)}\n---\n${x(20_000)}`, { a: x(8188) }, x(20_000), 2],
  [`${'\n'.repeat(8192)}---\na: b\n---\nB`, { a: 'b' }, 'B', 8194, blank],
  [`${'\n'.repeat(8193)}---\na: b\n---\nB`, '8193 error FRONT_MATTER_MISSING', blank],
];

test('F2 F4 forms of a file: line ends, marks, blank lines, languages, limits, and what ends the front matter', () => {
  for (const row of forms) {
    const [text] = row;
    for (const positions of [true, false]) assert.deepEqual([text, ...read(text, positions)], row);
  }
});

test('F2 a file that does not begin with the dashes is told with how it begins, at most 40 characters of it', () => {
  const rows: readonly (readonly [text: string, shown: string])[] = [
    ['# Title\n---', '# Title'],
    ['---js\r\n{}', '---js'],
    [`# ${x(38)}\n`, `# ${x(38)}`],
    [`# ${x(39)}\n`, `# ${x(38)}`],
  ];
  for (const [text, shown] of rows) {
    const result = readFrontMatter(text);
    const said = result.ok ? '' : result.problem.message;
    assert.ok(said.includes(JSON.stringify(shown)), said);
  }
});

test('F2 control characters are told with their line and number; what YAML calls printable is read', () => {
  const refused: readonly (readonly [from: number, to: number])[] = [
    [0x00, 0x08],
    [0x0b, 0x0c],
    [0x0e, 0x1f],
    [0x7f, 0x84],
    [0x86, 0x9f],
    [0xfeff, 0xfeff],
    [0xfffe, 0xffff],
  ];
  for (const [from, to] of refused)
    for (let code = from; code <= to; code += 1) {
      const text = `\n---\na: b\nc: "${String.fromCharCode(code)} d"\n---\nB`;
      const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
      for (const positions of [true, false]) {
        const result = readFrontMatter(text, { positions });
        assert.deepEqual([name, read(text, positions)], [name, ['4 error CONTROL_CHARACTER', blank]]);
        assert.match(result.ok ? '' : result.problem.message, new RegExp(`${name.replace('+', '\\+')}$`));
      }
    }
  for (const printable of [' ', '~', '\u0085', '\u00a0', '\ud7ff', '\ue000', '\ufffd', '😀', '\u{10ffff}'])
    for (const positions of [true, false])
      assert.deepEqual(read(`---\na: "x${printable}y"\n---\nB`, positions), [
        { a: `x${printable}y` },
        'B',
        2,
      ]);
});

test('D7 a fault of YAML is in an access key if its line is, or if the key above is left open', () => {
  const rows: readonly (readonly [yaml: string, line: number, off: boolean])[] = [
    ['access:\n  chat_types: [a', 4, true],
    ['access:\n  chat_types: [a\nlicense: b\ntags: c', 4, true],
    ['sensitive: "true\nlicense: b\ntags: c', 5, true],
    ['env: {a\nlicense: b\ntags: c', 3, true],
    ['sensitive: true\nlicense: "a" b', 3, false],
    ['license: "a" b\nsensitive: true', 2, false],
    ['license: [a\ntags: x\nsensitive: true', 3, false],
    ['license: b\naccess:\n  - x\n# c\n  chat_types: a', 5, true],
    ['license: b\naccess:\n- x\n-\n chat_types: "a" b', 6, true],
    ['metadata:\n  sensitive: "a" b', 3, true],
    ['"sensitive" \t: "a" b', 2, true],
    ['\'Allowed-Tools\': "a" b', 2, true],
    ['- sensitive: "a" b', 2, true],
    ['  -   env: "a" b', 2, true],
    ['-env: "a" b', 2, false],
    ['x env: "a" b', 2, false],
    ['envy: "a" b', 2, false],
    ['env-: "a" b', 2, false],
    ['license: "a" b\nenv: [A', 2, true],
    ['license: "a" env: b', 2, false],
  ];
  for (const [yaml, line, off] of rows)
    for (const positions of [true, false])
      assert.deepEqual(
        [yaml, ...read(`---\n${yaml}\n---\nB`, positions)],
        [yaml, `${line} error YAML_ERROR`, ...(off ? ['off'] : [])],
      );
});

const text = (written: string): FrontValue => ({ kind: 'text', text: written, line: 1 });
const list = (...items: readonly string[]): FrontValue => ({
  kind: 'list',
  items: items.map(text),
  source: '',
  flow: false,
  line: 1,
});
const map = (entries: Readonly<Record<string, FrontValue>>): FrontValue => ({
  kind: 'map',
  entries: new Map(Object.entries(entries)),
  source: '',
  flow: false,
  line: 1,
});

/** Texts that js-yaml reads as they are meant, so that no positions are told. */
const quick: readonly (readonly [yaml: string, values: Readonly<Record<string, FrontValue>>])[] = [
  ['b: c d', { b: text('c d') }],
  ['b: "c d"', { b: text('c d') }],
  ["b: 'it''s'", { b: text("it's") }],
  ['b: C#x y', { b: text('C#x y') }],
  ['b: x! y& z*', { b: text('x! y& z*') }],
  ['b: 1.10', { b: text('1.10') }],
  ['b:   0x1f  ', { b: text('0x1f') }],
  ['b: 2024-01-01', { b: text('2024-01-01') }],
  ['b: True', { b: text('True') }],
  ['b: ~', { b: text('~') }],
  ['b: null', { b: text('null') }],
  ['b: a? b % c. {d [e', { b: text('a? b % c. {d [e') }],
  ['b: |\n  c\n  d', { b: text('c\nd\n') }],
  ['b: >-\n  c\n  d', { b: text('c d') }],
  ['b: c\n  d', { b: text('c d') }],
  ['b: c & d', { b: text('c & d') }],
  ['b: x>y-1', { b: text('x>y-1') }],
  ['b: it\'s "so"', { b: text('it\'s "so"') }],
  ['tags: [a, "b", c]', { tags: list('a', 'b', 'c') }],
  ['tags:\n  - a\n  - b c', { tags: list('a', 'b c') }],
  ['tags:\n- a', { tags: list('a') }],
  ['tags: []', { tags: list() }],
  ['Allowed-Tools: [a]', { 'Allowed-Tools': list('a') }],
  ['metadata:\n  b: c\n  d: 1.0', { metadata: map({ b: text('c'), d: text('1.0') }) }],
  ['b: 0x10 0', { b: text('0x10 0') }],
  ['b: c\ntrue: d', { b: text('c'), true: text('d') }],
  ['metadata: {}', { metadata: map({}) }],
  ['access:\n  chat_types: [a, b]', { access: map({ chat_types: list('a', 'b') }) }],
  ['access:\n  chat_types: dm', { access: map({ chat_types: text('dm') }) }],
];

/** Texts about which js-yaml tells too little, or which it takes although YAML does not. */
const careful: readonly string[] = [
  ...[
    '&a b',
    '*a',
    '!x y',
    '! ',
    '!  ',
    '\n&x c: d',
    '&',
    'a\nc: *a',
    '[&a b]',
    '[a,*b]',
    '{a: !b c}',
    '\n  <<: {a: b}',
    'c<<d',
  ],
  ...['c # d', '"c"# d', "'c'#d", '[c]#d', '{c: d}#e', 'c\n# d', 'c\n#d', 'c\td', '"c\td"'],
  ...[
    '\n? c',
    'c\n ? d',
    'c\n  ? d',
    'c\n...',
    'c\n%d: e',
    '|2\n  c',
    '|+\n  c\n',
    '|-2\n   c',
    '>+\n  c',
    '>1\n c',
    '>-1\n c',
  ],
  ...['[[c]]', '[ [c]]', '[  [c]]', '[c, [d]]', '[c,[d]]', '[{c: d}]', '{c: [d]}', '{c: {d: e}}', '{[c]: d}'],
  ...[
    '"c\n  d"',
    "'c\n  d'",
    '"c',
    "'c",
    ' "c\n  d"',
    '["c\n  d"]',
    '[ "c\n  d"]',
    '[  "c\n  d"]',
    '[a,"c\n  d"]',
    '{"c\n  d": e}',
    '\n  "c\n  d"',
    '\n- "c\n  d"',
  ],
  ...['__proto__', '1 2\nb : 3', '', '\n  - c', '[c]', '{c: d}', '\nc:\n  b: 1\n', '1_0\nc:\n  b: 2'],
  ...['1\n1: c', 'c\n1.10: d', 'c\n"d": e', "c\n'd': e", 'c\n"1": e', 'c\n-d: e', 'c\nd : e', 'c\né: d'],
  ...[
    'c\ntags: [1]',
    'c\ntags: [a, true]',
    'c\ntags: [~]',
    'c\ntags: {a: b}',
    'c\nargument-hint: [a]',
    'c\nargument_hint:\n  - a',
  ],
  ...[
    'c\nmetadata: [1]',
    'c\nmetadata:\n  d:\n    - e',
    'c\nmetadata:\n  d:\n    e: f',
    'c\nmetadata:\n  1: d',
    'c\nmetadata:\n  "d": e',
    'c\nmetadata:\n  d:\n  e: f',
  ],
  ...[
    'c\naccess:\n  chat_types: [1]',
    'c\naccess:\n  chat_types: {a: b}',
    'c\naccess:\n  chat_types: 1\nchat_types: 2',
    'c\nname: [a]\ncolor: [a]',
    'c\ndescription:\n  d: e',
    'c\ndescription: {d: e}',
  ],
  ...['"c" env: d', "'c' env: d", '[c] env: d', '"c" env: d\nmetadata:\n  env: e', 'c\nmetadata: {d: e}'],
  ...['c\nd: e\nmetadata:\n  f: "g" d: h', 'c\naccess:\n  chat_types: [dm] users: d'],
].map((value) => `b: ${value}`);

function frontOf(yaml: string): FrontMap | undefined {
  const result = readFrontMatter(`---\na: b\n${yaml}\n---\nB`, { positions: false });
  return result.ok ? result.file.front : undefined;
}

test('F3 texts that js-yaml reads as they are meant are read quickly, without positions', () => {
  for (const [yaml, values] of quick)
    assert.deepEqual([yaml, frontOf(yaml)], [yaml, new Map(Object.entries({ a: text('b'), ...values }))]);
});

test('F3 all other texts are read as if positions were needed', () => {
  for (const yaml of careful) {
    const whole = `---\na: b\n${yaml}\n---\nB`;
    assert.deepEqual([yaml, readFrontMatter(whole, { positions: false })], [yaml, readFrontMatter(whole)]);
  }
});

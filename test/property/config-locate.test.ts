import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'smol-toml';
import type { KeyPath } from '../../src/config/section.ts';
import { locateKeys } from '../../src/config/locate-keys.ts';

const numRuns = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);
const key = fc.oneof(fc.stringMatching(/^[\w-]{1,6}$/), fc.string({ minLength: 1, maxLength: 6 }));
const { tree } = fc.letrec((tie) => ({
  tree: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('#', ']', '}', '"""', "'''", 'a\n[b]\nc = 1', '\\', '\\"', '[[x]]'),
    fc.integer(),
    fc.boolean(),
    fc.array(fc.oneof(fc.string(), fc.integer()), { maxLength: 3 }),
    fc.array(tie('tree'), { maxLength: 3 }),
    tie('tree'),
  ),
}));

test('G2 the place of every key of a written file is where that key stands', () => {
  const property = fc.property(tree, (data) => {
    const text = stringify(data);
    const placeOf = locateKeys(text);
    const lines = text.split('\n');
    const visit = (value: unknown, path: KeyPath): void => {
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
        for (const [name, item] of Object.entries(value)) visit(item, [...path, name]);
        return;
      }
      if (Array.isArray(value)) value.forEach((item, index) => visit(item, [...path, index]));
      const place = placeOf(path);
      assert.ok(place !== undefined, `${JSON.stringify(path)} in\n${text}`);
      const rest = lines[place.line - 1]?.slice(place.column - 1) ?? '';
      const name = path.findLast((part) => typeof part === 'string') ?? '';
      // Quoted or bare, first on its place; in a list the item itself stands there.
      if (typeof path.at(-1) === 'string') {
        const written = [name, JSON.stringify(name), stringify({ [name]: 1 }).split(' = 1')[0] ?? ''];
        assert.ok(
          written.some((one) => rest.startsWith(one) || rest.startsWith('[')),
          `${JSON.stringify(path)} at ${rest}`,
        );
      }
    };
    visit(data, []);
  });
  fc.assert(property, { numRuns });
});

test('G2 places are right for every way of writing a key', () => {
  const text = [
    'top = 1 # x = 2',
    'a . "b c".d = [ # [no]',
    '  "one", # "two"',
    "  'x # y',",
    ']',
    '[[list]]',
    'n = """',
    'fake = 1',
    '"quoted" """""',
    '[list.sub]',
    "'k' = { x = 1, y.z = ['q', { w = 2 }] }",
    '[[list]]',
    'n = 3',
    '[table."with.dot"]',
    '  late = true',
  ].join('\r\n');
  const placeOf = locateKeys(text);
  const expected: readonly (readonly [KeyPath, number, number])[] = [
    [['top'], 1, 1],
    [['a', 'b c', 'd'], 2, 1],
    [['a', 'b c', 'd', 0], 3, 3],
    [['a', 'b c', 'd', 1], 4, 3],
    [['list', 0], 6, 1],
    [['list', 0, 'n'], 7, 1],
    [['list', 0, 'sub'], 10, 1],
    [['list', 0, 'sub', 'k', 'x'], 11, 9],
    [['list', 0, 'sub', 'k', 'y', 'z'], 11, 16],
    [['list', 0, 'sub', 'k', 'y', 'z', 1, 'w'], 11, 30],
    [['list', 1], 12, 1],
    [['list', 1, 'n'], 13, 1],
    [['table', 'with.dot', 'late'], 15, 3],
    [['table', 'with.dot', 'absent'], 14, 1],
  ];
  for (const [path, line, column] of expected) {
    assert.deepEqual(placeOf(path), { line, column }, JSON.stringify(path));
  }
  assert.equal(placeOf(['fake']), undefined);
  assert.deepEqual(
    placeOf(['list', 0, '']),
    { line: 6, column: 1 },
    'the quotes that end a text begin no key',
  );
  assert.equal(placeOf(['absent']), undefined);
});

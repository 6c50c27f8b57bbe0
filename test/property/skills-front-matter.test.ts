import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readFrontMatter } from '../../src/skills/parse/front-matter.ts';
import { repairFrontMatter } from '../../src/skills/parse/parse-yaml.ts';
import type { FrontValue } from '../../src/skills/parse/read-values.ts';
import { parseSkill } from '../../src/skills/parse/parse-skill.ts';
import { validateSkill } from '../../src/skills/parse/validate-skill.ts';
import { equalData } from '../support/equal-data.ts';

const numRuns = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);

/** Bits of YAML that mean something, to be put together in ways nobody would. */
const bit = fc.oneof(
  fc.constantFrom(
    ...[
      '---',
      '---js',
      '\n',
      '\r\n',
      '\n  ',
      ': ',
      ':',
      '- ',
      '"',
      "'",
      '#',
      ' # ',
      '[',
      ']',
      '{',
      '}',
      '&a ',
      '*a',
      '!x ',
    ],
    ...[
      '|\n  ',
      '>-\n  ',
      '%YAML 1.1',
      '\t',
      '~',
      '<<: ',
      '? ',
      '\\',
      '\u0000',
      '\u0085',
      '\u2028',
      '\uFEFF',
      '\ud800',
      '...',
    ],
    ...[
      'name',
      'description',
      'metadata',
      'access',
      'chat_types',
      'sensitive',
      'env',
      'allowed-tools',
      'network',
      'version',
    ],
    ...[
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'true',
      '1.10',
      '2024-01-01',
      'private',
      'excerpt_separator',
    ],
    ...['(() => { globalThis.skilletEvaluated = true })()', '!!js/function "x"', '${x}', '`id`'],
  ),
  fc.string({ maxLength: 12, unit: 'grapheme' }),
);
const yaml = fc.array(bit, { maxLength: 40 }).map((bits) => bits.join(''));
const file = fc.oneof(
  yaml.map((text) => `---\n${text}\n---\nBody`),
  fc
    .tuple(yaml, yaml)
    .map(([front, more]) => `---\nname: a\ndescription: ${front}\n${more}\n---\nBody of it`),
  yaml,
);

test('S6 F5 whatever bytes a skill file holds, reading and validating it is a value, and nothing is evaluated', () => {
  const prototype = Object.getOwnPropertyNames(Object.prototype).join();
  const source = { path: '/r/a/SKILL.md', directory: '/r/a' };
  fc.assert(
    fc.property(
      fc.oneof(
        file.map((text) => Buffer.from(text)),
        fc.uint8Array({ maxLength: 300 }),
      ),
      fc.boolean(),
      (bytes, cut) => {
        const result = parseSkill({ ...source, bytes, cut, origin: 'workspace' });
        if (result.ok) {
          assert.ok(Object.isFrozen(result.definition));
          assert.notEqual(result.definition.description.trim(), '');
          assert.match(result.definition.name, /^[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*$/u);
        } else assert.ok(result.diagnostics.some(({ level }) => level === 'error'));
        for (const strict of [false, true])
          for (const problem of validateSkill({ ...source, bytes }, { strict }))
            assert.equal(typeof problem.message, 'string');
      },
    ),
    { numRuns },
  );
  assert.equal('skilletEvaluated' in globalThis, false);
  assert.equal(Object.getOwnPropertyNames(Object.prototype).join(), prototype);
});

test('F3 simple front matter is read exactly as the YAML parser reads it', () => {
  const value = fc.oneof(
    fc.constantFrom(
      'true',
      '1.10',
      'a: b',
      'a #b',
      'C# x',
      'x:',
      'a:b',
      '"q"',
      "'q'",
      '"',
      "'it''s'",
      '~',
      '- x',
      '2024-01-01',
      '0x1f',
      'a  b',
      ' a',
      'a ',
      '|',
      '*a',
      '&a b',
      '!x y',
      '@x',
      '%x',
      'é ü',
      '日本',
      '"a\\nb"',
      'a\tb',
      '"q" env: x',
      '[a] env: x',
      "'q' a: b",
      '[a]',
      '{a: b}',
      '...',
      '---x',
      '# c',
      '',
    ),
    fc.string({ maxLength: 20 }).filter((text) => !/[\n\r]/.test(text)),
  );
  const oddKey = fc.string({ maxLength: 4 }).filter((text) => !/[\n\r]/.test(text));
  const plainKey = fc.stringMatching(/^[a-zA-Z][a-z_-]{0,5}$/);
  const key = fc.oneof(
    { weight: 20, arbitrary: plainKey },
    { weight: 1, arbitrary: fc.constantFrom('__proto__', 'a') },
    { weight: 1, arbitrary: oddKey },
  );
  const mostly = (usual: string, ...others: readonly string[]): fc.Arbitrary<string> =>
    fc.oneof(
      { weight: 20, arbitrary: fc.constant(usual) },
      { weight: 1, arbitrary: fc.constantFrom(...others) },
    );
  const pair = fc.tuple(key, mostly(': ', ':', ':  ', ''), value).map((parts) => parts.join(''));
  const indented = fc.array(
    fc.tuple(mostly('  ', '   ', ' ', '  - '), pair).map((parts) => parts.join('')),
    { maxLength: 3 },
  );
  const block = fc.tuple(plainKey, indented).map(([name, inner]) => [`${name}:`, ...inner].join('\n'));
  const known = fc.constantFrom('allowed-tools', 'tags', 'env', 'description', 'metadata', 'argument-hint');
  const texts = fc.array(value, { maxLength: 3 });
  const lists = fc.oneof(
    fc.tuple(known, texts).map(([name, items]) => `${name}: [${items.join(', ')}]`),
    fc
      .tuple(known, texts)
      .map(([name, items]) => `${name}:\n${items.map((item) => `  - ${item}`).join('\n')}`),
    fc.tuple(known, texts).map(([name, items]) => `${name}:\n${items.map((item) => `- ${item}`).join('\n')}`),
    texts.map((items) => `access:\n  chat_types: [${items.join(', ')}]`),
    texts.map((items) => `access:\n  chat_types:\n${items.map((item) => `    - ${item}`).join('\n')}`),
  );
  const mark = fc.constantFrom('|', '>', '|-', '>-', '>+', '|2', '');
  const long = fc
    .tuple(known, mark, texts, fc.constantFrom('  ', '    ', '  \n  '))
    .map(([name, of, items, by]) => `${name}: ${of}\n${items.map((item) => `${by}${item}`).join('\n')}`);
  const line = fc.oneof(
    { weight: 2, arbitrary: lists },
    { weight: 2, arbitrary: long },
    { weight: 5, arbitrary: pair },
    { weight: 2, arbitrary: block },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom('    ', '- ', '#'), pair).map((parts) => parts.join('')),
    },
  );
  const lines = fc.array(line, { maxLength: 4 }).map((all) => `${all.join('\n')}\n`);
  let quickly = 0;
  fc.assert(
    fc.property(fc.oneof(lines, yaml), (text) => {
      const whole = `---\n${text}\n---\nBody`;
      const quick = readFrontMatter(whole, { positions: false });
      const careful = readFrontMatter(whole);
      if (quick.ok && [...quick.file.front.values()].some(({ line }) => line > 1)) return;
      if (quick.ok && quick.file.front.size > 1) quickly += 1;
      equalData(withoutPlaces(quick), withoutPlaces(careful));
    }),
    { numRuns: numRuns * 5 },
  );
  assert.ok(quickly > numRuns / 50, `${quickly} were read quickly`);
});

/** Without lines and sources, which are told only where they are asked for. */
function withoutPlaces(read: ReturnType<typeof readFrontMatter>): unknown {
  const bare = (value: FrontValue): unknown => {
    if (value.kind === 'text') return value.text;
    return value.kind === 'list'
      ? value.items.map(bare)
      : [...value.entries].map(([key, one]) => [key, bare(one)]);
  };
  if (!read.ok) return read;
  const { front, ...rest } = read.file;
  return { ...rest, front: [...front].map(([key, value]) => [key, bare(value)]) };
}

test('F4 a repair leaves every line alone but those of name, description and the hint', () => {
  fc.assert(
    fc.property(yaml, yaml, (description, more) => {
      const text = `name: a\ndescription: ${description}: x\n${more}\nenv: A: b\n`.replace(/\r/g, '');
      const repair = repairFrontMatter(text);
      if (repair === undefined || !('yaml' in repair)) return;
      const mayChange = /^(?:name|description|argument[-_]hint):|^\s/;
      const rest = (lines: string): readonly string[] =>
        lines.split('\n').filter((line) => !mayChange.test(line));
      assert.deepEqual(rest(repair.yaml), rest(text));
      for (const key of repair.keys) assert.match(key, /^(?:name|description|argument[-_]hint)$/);
    }),
    { numRuns },
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fillArguments, splitArguments } from '../../src/skills/registry.ts';

const numRuns = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '$ARGUMENTS',
        '$0',
        '$1',
        '$9',
        '[0]',
        '[1]',
        '\\',
        '$',
        '$&',
        '$`',
        "$'",
        '$$',
        '{baseDir}',
        '<skill_dir>',
        '${CLAUDE_SKILL_DIR}',
        '"',
        "'",
        ' ',
        '!`id`',
      ),
      fc.string({ maxLength: 6 }),
    ),
    { maxLength: 12 },
  )
  .map((bits) => bits.join(''));

test('S6 I5 arguments are put in as they are, once for each place', () => {
  fc.assert(
    fc.property(
      text,
      fc.array(
        fc.string({ maxLength: 6 }).filter((part) => !/[$\\]/.test(part)),
        { maxLength: 4 },
      ),
      (args, parts) => {
        const body = parts.join('\n$ARGUMENTS\n');
        const filled = fillArguments(body, args, { skillPath: '/s' });
        assert.equal(filled.text, parts.join(`\n${args}\n`));
        assert.equal(filled.substituted, parts.length > 1);
      },
    ),
    { numRuns },
  );
});

test('S6 I5 any body with any arguments gives text, in time that grows with its length alone', () => {
  fc.assert(
    fc.property(text, text, fc.option(text, { nil: undefined }), (body, args, argumentHint) => {
      const options = { skillPath: '/s', ...(argumentHint === undefined ? {} : { argumentHint }) };
      const filled = fillArguments(body, args, options);
      if (!/[$<{]/.test(body)) assert.deepEqual(filled, { text: body, substituted: false });
    }),
    { numRuns },
  );
});

test('S6 I5 words that need no quoting are split at the blanks, and quoted words come back whole', () => {
  const word = fc.string({ minLength: 1, maxLength: 8 }).filter((part) => !/[\s"'\\]/.test(part));
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 6 }),
      fc.array(
        fc.string({ maxLength: 8 }).filter((part) => !part.includes("'")),
        { maxLength: 6 },
      ),
      (plain, quoted) => {
        assert.deepEqual(splitArguments(plain.join('  ')), plain);
        assert.deepEqual(splitArguments(quoted.map((part) => `'${part}'`).join(' ')), quoted);
      },
    ),
    { numRuns },
  );
});

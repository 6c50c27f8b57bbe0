import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { visibleText, type MarkdownDocument } from '../../src/lib/markdown/document.ts';
import { parseMarkdown } from '../../src/lib/markdown/parse-markdown.ts';
import { plainText } from '../../src/lib/markdown/render-text.ts';
import { splitMarkdown } from '../../src/lib/markdown/split-markdown.ts';
import { slackFits } from '../../src/channels/slack/from-markdown.ts';
import { telegramFits, toTelegramText } from '../../src/channels/telegram/from-markdown.ts';
import { processorMs } from '../support/machine-time.ts';

const upTo =
  (most: number) =>
  (piece: MarkdownDocument): boolean =>
    plainText(piece).length <= most;

test('H2 a split falls between paragraphs, and a heading stays with what it is over', () => {
  assert.deepEqual(splitMarkdown('one two\n\n**three** four\n\n# H\n\nfive six', upTo(23)), [
    'one two\n\n**three** four',
    '# H\n\nfive six',
  ]);
});

test('H2 text that fits is given back as it was written', () => {
  const markdown = '*odd*   __spacing__\n\n\n* and * bullets';
  assert.deepEqual(splitMarkdown(markdown, upTo(100)), [markdown]);
});

test('H2 a list is cut between items and goes on with its numbers, a long item in its text', () => {
  assert.deepEqual(splitMarkdown('3. aaaa\n4. bbbb\n5. cccc\n6. dddd', upTo(16)), [
    '3. aaaa\n4. bbbb',
    '5. cccc\n6. dddd',
  ]);
  assert.deepEqual(splitMarkdown('- aaaa bbbb cccc\n- dd', upTo(13)), ['- aaaa bbbb', 'cccc\n\n- dd']);
});

test('H2 a code fence is closed and opened again with its language, between lines', () => {
  const lines = ['const a = 1;', '', '  const b = 2;', 'const c = 3;'];
  assert.deepEqual(splitMarkdown(`\`\`\`ts\n${lines.join('\n')}\n\`\`\``, upTo(30)), [
    '```ts\nconst a = 1;\n\n  const b = 2;\n```',
    '```ts\nconst c = 3;\n```',
  ]);
  const quoted = splitMarkdown('> ```\n> aaaa\n> bbbb\n> ```', upTo(6));
  assert.deepEqual(quoted, ['> ```\n> aaaa\n> ```', '> ```\n> bbbb\n> ```']);
});

test('H2 a table is cut between rows with its header on each part, or into lines where no row fits', () => {
  const table = '| n | name |\n| --- | --- |\n| 1 | aa |\n| 2 | bb |\n| 3 | cc |';
  assert.deepEqual(splitMarkdown(table, upTo(36)), [
    '| n | name |\n| --- | --- |\n| 1 | aa |\n| 2 | bb |',
    '| n | name |\n| --- | --- |\n| 3 | cc |',
  ]);
  assert.deepEqual(splitMarkdown(table, upTo(18)), [
    '```\nn | name\n--+-----\n```',
    '```\n1 | aa\n2 | bb\n```',
    '```\n3 | cc\n```',
  ]);
});

test('H2 a long paragraph is cut after a sentence, else after a word, and marks go on', () => {
  assert.deepEqual(splitMarkdown('One two. Three four. Five six seven.', upTo(25)), [
    'One two. Three four.',
    'Five six seven.',
  ]);
  assert.deepEqual(splitMarkdown('a **bold text that goes [on and on](https://x.example/)** z', upTo(25)), [
    'a **bold text that goes [on](https://x.example/)**',
    '**[and on](https://x.example/)** z',
  ]);
});

test('H2 what has no place to cut is cut between graphemes', () => {
  const family = '👩‍👩‍👧';
  assert.deepEqual(splitMarkdown(family.repeat(4), upTo(20)), [family.repeat(2), family.repeat(2)]);
  assert.deepEqual(splitMarkdown('😀😀😀', upTo(3)), ['😀', '😀', '😀']);
});

test('H2 link definitions reach every part of a long text', () => {
  const source = `${'Words and [a link][1] and more words.\n\n'.repeat(600)}[1]: https://x.example/one`;
  const pieces = splitMarkdown(source, telegramFits);
  assert.ok(pieces.length > 3);
  assert.equal(pieces.join('').match(/\[a link\]\(https:\/\/x\.example\/one\)/g)?.length, 600);
});

test('H2 a long text is split without a word lost, at a cost that grows with its length', () => {
  const paragraph =
    'Some **bold** words with `code` and [a link](https://x.example/). They go on.\n\n- one\n- two\n\n';
  const wordsOf = (markdown: string): number =>
    visibleText(parseMarkdown(markdown)).match(/\S+/g)?.length ?? 0;
  for (const [fits, length] of [
    [telegramFits, 40_000],
    [slackFits, 20_000],
  ] as const) {
    const source = paragraph.repeat(length / paragraph.length);
    let measured = 0;
    const pieces = splitMarkdown(source, (piece) => {
      measured += visibleText(piece).length;
      return fits(piece);
    });
    assert.equal(
      pieces.reduce((sum, piece) => sum + wordsOf(piece), 0),
      wordsOf(source),
    );
    assert.ok(measured < 12 * length, `${measured} characters were measured for ${length}`);
  }
});

test('H2 text full of marks that mean nothing comes through without added ones', () => {
  const source = Array.from({ length: 900 }, (_, n) => `2 * ${n} = \\\`x\\\` [a] <b>`).join('\n');
  const pieces = splitMarkdown(source, telegramFits);
  const words = (markdown: string): readonly string[] =>
    visibleText(parseMarkdown(markdown)).split(/\s+/).filter(Boolean);
  assert.ok(pieces.length > 1);
  assert.deepEqual(pieces.flatMap(words), source.replaceAll('\\', '').split(/\s+/));
});

test('H2 tables and paragraphs of hundreds of marked lines are read, not shown raw', () => {
  const rows = Array.from({ length: 600 }, (_, n) => `| **r${n}** | [l](https://x.example/${n}) |\n`);
  const table = parseMarkdown(`| a | b |\n|---|---|\n${rows.join('')}`);
  assert.deepEqual(
    table.children.map((block) => block.type === 'table' && block.children.length),
    [601],
  );
  const lines = Array.from(
    { length: 1200 },
    (_, n) => `**Item ${n}**: [source](https://x.example/) \`code\`\n`,
  );
  const text = toTelegramText(lines.join(''));
  assert.doesNotMatch(text, /[*[\]]/);
  assert.equal(text.match(/Item \d+: source code/g)?.length, 1200);
});

test('S6 one line too heavy for the parser is shown as it stands, the lines around it are read', () => {
  const document = parseMarkdown(`**before**\n${'a*b '.repeat(1100)}\n**after**`);
  const shown = visibleText(document);
  assert.ok(shown.startsWith('before\na*b ') && shown.trimEnd().endsWith('\nafter'), shown.slice(-40));
});

const hostile: readonly (readonly [string, string])[] = [
  ...[
    '>',
    '> ',
    '- ',
    '1. ',
    '[',
    ']',
    '![',
    '[a](',
    '*',
    '*a_ ',
    '*_',
    '**a ',
    '`',
    '``\\',
    '<',
    '<a:',
    '&',
    '\\',
    '|',
    'www.',
  ].map((unit) => [`${unit} again and again`, unit] as const),
  ['lazy lines', '> a\n'],
  ['empty quotes', '> \n\n'],
  ['lists side by side', '- a\n* b\n'],
  ['lists in and out', '  - a\n- b\n'],
  ['underlined headings', '---\nb \n'],
  ['addresses', '__www.a'],
  ['marks in lines', '**a *b c*d**e*\n'],
  ['rows of a table in a quote', '\n> x\n| a |\n|-|\n| *a *a *a *a |'],
  ['a table in pieces', '\n| a |\n|-|\n| *a *a *a *a |\n*a*a*a'],
  ['marks between escapes', '\\*~'],
  ['spaces', ' '],
];

for (const [name, unit] of hostile) {
  test(`S6 ${name} is parsed soon and shown in full`, () => {
    const source = `x${unit.repeat(100_000 / unit.length)}`;
    const took = processorMs(() => assert.ok(visibleText(parseMarkdown(source)).startsWith('x')));
    assert.ok(took < 20_000, `${took} ms`);
  });
}

test('S6 nesting however deep is flat enough for the stack', () => {
  for (const source of [
    '> '.repeat(50_000) + 'a',
    Array.from({ length: 1500 }, (_, depth) => `${' '.repeat(2 * depth)}- a`).join('\n'),
    '**a *b '.repeat(8_000) + 'c* d**'.repeat(8_000),
  ]) {
    const pieces = splitMarkdown(source, telegramFits);
    assert.ok(pieces.length > 0 && pieces.every((piece) => telegramFits(piece)));
  }
});

test('H2 a line of plain words is read without the parser just as the parser reads it', () => {
  const letters = [...'aZß1 0  ..,;?!\'"()%-w'];
  const words = fc.array(fc.constantFrom(...letters, 'www', '1.', '- ', '...', '--'), { maxLength: 12 });
  fc.assert(
    fc.property(words, (pieces) => {
      const line = `x${pieces.join('')}`;
      // With a block behind it the line goes to the parser.
      const parsed = parseMarkdown(`${line}\n\n*end*`).children.slice(0, -1);
      assert.deepEqual(parseMarkdown(line).children, parsed);
    }),
    { numRuns: Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200) },
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { parseMarkdown } from '../../src/lib/markdown/parse-markdown.ts';
import { simplifyTree } from '../../src/lib/markdown/simplify-tree.ts';
import { splitMarkdown } from '../../src/lib/markdown/split-markdown.ts';
import { visibleText } from '../../src/lib/markdown/document.ts';
import { slackFits, toSlackMessage, toSlackMarkdown } from '../../src/channels/slack/from-markdown.ts';
import { telegramFits, toTelegramHtml, toTelegramText } from '../../src/channels/telegram/from-markdown.ts';
import { formatText } from '../servers/telegram/format-text.ts';
import { numRuns, withoutSpace } from './markdown-source.ts';

/** Words of a script, with the punctuation that its writers put at the edges of what they mark. */
const scripts = [
  {
    words: ['重要', '这是', '后面', '𠮷野家'],
    edges: ['', '', '「|」', '《|》', '|：', '|。', '（|）', '“|”'],
  },
  { words: ['です', 'これは', 'カタカナ', 'が'], edges: ['', '', '「|」', '『|』', '|！', '【|】', '|、'] },
  { words: ['중요', '입니다', '는'], edges: ['', '', '(|)', '|?', '‘|’'] },
  { words: ['مهم', 'هذا', 'وَ'], edges: ['', '', '«|»', '|؟', '|:'] },
  { words: ['👍🏽', '👩‍👩‍👧', '🇨🇭', '❤️', '😀'], edges: [''] },
] as const;

type Piece = Readonly<{ source: string; shown: string }>;

const word = fc
  .constantFrom(...scripts)
  .chain(({ words, edges }) => fc.tuple(fc.constantFrom(...words), fc.constantFrom<string>(...edges)))
  .map(([inner, edge]) => edge.split('|')[0] + inner + (edge.split('|')[1] ?? ''));
const plain: fc.Arbitrary<Piece> = word.map((text) => ({ source: text, shown: text }));
const marked: fc.Arbitrary<Piece> = fc
  .tuple(fc.constantFrom('**', '*', '~~', '`'), fc.array(word, { minLength: 1, maxLength: 3 }))
  .map(([mark, words]) => ({ source: mark + words.join('') + mark, shown: words.join('') }));
const link: fc.Arbitrary<Piece> = word.map((text) => ({
  source: `[**${text}**](https://x.example/)`,
  shown: text,
}));
/** What is marked stands between plain words: two marks without a space between them mean nothing certain. */
const line = fc
  .array(fc.tuple(fc.oneof({ weight: 3, arbitrary: marked }, { weight: 1, arbitrary: link }), plain), {
    minLength: 1,
    maxLength: 6,
  })
  .map((pairs) => join(pairs.flat()));
const paragraph = fc.tuple(fc.constantFrom('', '- ', '> ', '## '), line).map(([head, { source, shown }]) => ({
  source: head + source,
  shown,
}));
const text = fc
  .array(paragraph, { minLength: 1, maxLength: 5 })
  .map((lines) => ({ source: lines.map(({ source }) => source).join('\n\n'), shown: join(lines).shown }));

test('H2 marks of any script are read by each channel, and nothing but their signs goes', () => {
  fc.assert(
    fc.property(text, ({ source, shown }) => {
      assert.equal(withoutSpace(visibleText(parseMarkdown(source))), shown);
      assert.equal(withoutSpace(formatText(toTelegramHtml(source), 'HTML').text).replace(/•/g, ''), shown);
      const markdown = toSlackMarkdown(source);
      assert.doesNotMatch(markdown, /&#/);
      assert.equal(withoutSpace(strictlyRead(markdown)), shown, markdown);
    }),
    { numRuns },
  );
});

test('H2 pieces of long texts in any script are within the limits and cut between graphemes', () => {
  const whole = new Intl.Segmenter('en', { granularity: 'grapheme' });
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), fc.boolean(), (some, blank) => {
      const lines = Array.from({ length: 600 / some.length }, () => some).flat();
      const source = lines.map((one) => one.source).join(blank ? '\n\n' : '');
      const shown = join(lines).shown;
      const read = withoutSpace(visibleText(parseMarkdown(source)));
      if (blank) assert.equal(read, shown);
      const graphemes = new Set([...whole.segment(read)].map(({ segment }) => segment));
      for (const [fits, longest, write] of [
        [telegramFits, 4096, toTelegramText],
        [slackFits, 12_000, (piece: string) => toSlackMessage(piece).blocks[0]?.text ?? ''],
      ] as const) {
        const pieces = splitMarkdown(source, fits);
        const texts = pieces.map((piece) => withoutSpace(visibleText(parseMarkdown(piece))));
        assert.equal(texts.join(''), read);
        for (const piece of pieces) {
          assert.ok(write(piece).length <= longest && piece.isWellFormed());
          assert.doesNotMatch(piece, /&#/);
        }
        for (const { segment } of texts.flatMap((part) => [...whole.segment(part)]))
          assert.ok(graphemes.has(segment), `${JSON.stringify(segment)} was cut`);
      }
    }),
    { numRuns: Math.ceil(numRuns / 40) },
  );
});

/** What a reader that holds to CommonMark's letter makes of it. */
function strictlyRead(markdown: string): string {
  const tree = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  return visibleText({ type: 'root', children: simplifyTree(tree) });
}

function join(pieces: readonly Piece[]): Piece {
  return {
    source: pieces.map(({ source }) => source).join(''),
    shown: pieces.map(({ shown }) => shown).join(''),
  };
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseMarkdown } from '../../src/lib/markdown/parse-markdown.ts';
import { plainText } from '../../src/lib/markdown/render-text.ts';
import { splitMarkdown } from '../../src/lib/markdown/split-markdown.ts';
import { hasVisible } from '../../src/lib/text/text.ts';
import { visibleText, type MarkdownBlock, type MarkdownDocument } from '../../src/lib/markdown/document.ts';
import { writeMarkdown } from '../../src/lib/markdown/write-markdown.ts';
import { markdownSource, numRuns, withoutSpace } from './markdown-source.ts';

const box = /[☑☐]/g;

const inTotal = (document: MarkdownDocument, most: number): boolean => plainText(document).length <= most;

test('S6 any text parses, and writing the tree as Markdown loses no visible character', () => {
  fc.assert(
    fc.property(markdownSource, (source) => {
      const document = parseMarkdown(source);
      assert.equal(shown(parseMarkdown(writeMarkdown(document))), shown(document));
    }),
    { numRuns },
  );
});

test('H2 every piece of a split fits and nothing visible is lost', () => {
  fc.assert(
    fc.property(markdownSource, fc.integer({ min: 1, max: 120 }), (source, most) => {
      const document = parseMarkdown(source);
      const pieces = splitMarkdown(source, (piece) => inTotal(piece, most));
      const parsed = pieces.map(parseMarkdown);
      for (const piece of parsed) {
        // A bullet, a table's rule or a cluster that can't be cut may be longer by itself.
        if (most >= 40 && !hasTable(document.children))
          assert.ok(inTotal(piece, most), JSON.stringify(pieces));
      }
      if (!hasTable(document.children)) {
        // The box of a task is a character where a piece is too short for the list.
        const read = parsed.map(shown).join('').replaceAll(box, '');
        assert.equal(read, hasVisible(shown(document)) ? shown(document).replaceAll(box, '') : '');
      }
      assert.ok(pieces.every((piece) => piece.trim() !== ''));
    }),
    { numRuns },
  );
});

test('H2 a cut never falls inside a surrogate pair', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.integer({ min: 2, max: 12 }),
      (source, most) => {
        for (const piece of splitMarkdown(source, (piece) => inTotal(piece, most))) {
          assert.ok(piece === source || piece.isWellFormed(), JSON.stringify(piece));
        }
      },
    ),
    { numRuns },
  );
});

test('H2 a line too long for one parse is cut between graphemes', () => {
  for (const grapheme of ['❤️', '🇨🇭', '👍🏽'])
    for (const before of ['x', 'xx', 'xxx', 'xxxx']) {
      const pieces = splitMarkdown(before + grapheme.repeat(20_000), (piece) => inTotal(piece, 4096));
      const whole = pieces.map((piece) => piece.replaceAll(grapheme, '')).join('');
      assert.equal(withoutSpace(whole), before);
    }
});

function shown(document: MarkdownDocument): string {
  return withoutSpace(visibleText(document));
}

function hasTable(blocks: readonly MarkdownBlock[]): boolean {
  return blocks.some((block) => {
    if (block.type === 'list') return block.children.some((item) => hasTable(item.children));
    return block.type === 'table' || (block.type === 'blockquote' && hasTable(block.children));
  });
}

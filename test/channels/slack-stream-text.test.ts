import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { toStreamText } from '../../src/channels/slack/from-markdown.ts';
import { markdownSource } from '../property/markdown-source.ts';

type Node = Readonly<{ type: string; value?: string; children?: readonly Node[] }>;

/** What some reader of Markdown, or a look for links in its text, would make a link, an image or a mention of. */
function livesIn(markdown: string): readonly string[] {
  const found: string[] = [];
  const visit = (node: Node): void => {
    if (['link', 'linkReference', 'image', 'imageReference', 'definition', 'html'].includes(node.type))
      found.push(node.type);
    if (node.type === 'text') found.push(...((node.value ?? '').match(inText) ?? []));
    for (const child of node.children ?? []) visit(child);
  };
  visit(fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }));
  return [...found, ...(markdown.match(inText) ?? []), ...(markdown.match(mentions) ?? [])];
}

/** A scheme, a name with a dot, an address: with or without characters that a reader may drop. */
const inText = /[a-z][a-z+-]*:\\?\/\\?\/|[\p{L}\p{N}_-]\\?\.[\p{L}\p{N}_-]|[\w.+-]@\w|www\./giu;
const mentions = /<[@#!]|<https?:|@(?:here|channel|everyone)/gi;

const links = [
  'https://example.com/x?a=b',
  'HTTP://EXAMPLE.COM',
  'http://localhost:3000/x',
  'http://1.2.3.4/',
  'https:\\/\\/example\\.com/x',
  'www.example.com',
  'example.com/x',
  'münchen.de',
  'example.com.',
  'mailto:a@b.co',
  'ann.b+c@example.co.uk',
  '<https://example.com>',
  '<a@b.co>',
  '<https://example.com|here>',
  '<@U12345>',
  '<!channel>',
  '@here',
  '<img src="https://example.com/a.png">',
  '[here](https://example.com)',
  '[here]( <https://example.com> "t")',
  '![alt](https://example.com/a.png)',
  '[![alt](https://a.co/a.png)](https://b.co)',
  '[here][1]',
  '[1]: https://example.com',
  '[here][]',
  'https&colon;//example&#46;com',
  'https&#58;//example&period;com',
  '&lt;https://example.com&gt;',
  'exa**mple.c**om',
  'https:**//**example.com',
  'slack://user?team=T1',
];
const others = [
  'It is so. ',
  'e.g. ',
  '3.14 ',
  'wait... ',
  '\n\n- one\n',
  '\n\n1. two\n',
  '\n\n# Title\n\n',
  '`a.b(c)` ',
  '**bold** ',
  '*it* ',
  '\n\n```js\na.b["c"](d)\n```\n\n',
  '\n\n| a | b |\n|:--|--:|\n| 1 | 2 |\n\n',
  '\n> quote\n',
  ':tada: ',
  'ひとつ。ふたつ ',
  '😀 ',
  ' ',
  '\n',
  '(',
  ')',
  '[',
  ']',
  '<',
  '>',
  '\\',
  '/',
  ':',
  '.',
  '&',
];

const invisible = /\u2060/g;
const asWritten = (text: string): string =>
  text.replace(invisible, '').replaceAll('\u2024', '.').replaceAll('\u2236', ':');

test('H2 every link and mention of a stream is dead, reads the same, and stays what was sent while it grows', () => {
  for (const link of links) {
    const streamed = toStreamText(`See ${link} now`);
    assert.deepEqual(livesIn(streamed), [], link);
    assert.equal(asWritten(streamed), `See ${link} now`);
  }
});

test('H2 nothing that is added to a stream is live, cut anywhere: not the piece, not the whole', () => {
  const piece = fc.oneof(
    fc.constantFrom(...links),
    fc.constantFrom(...others),
    fc.string({ maxLength: 4 }),
    markdownSource,
  );
  const written = fc
    .tuple(fc.array(piece, { maxLength: 8 }), fc.constantFrom('', ' '))
    .map(([pieces, by]) => pieces.join(by));
  fc.assert(
    fc.property(written, fc.integer({ min: 1, max: 9 }), (markdown, step) => {
      let sent = '';
      for (let end = 0; end < markdown.length + step; end += step) {
        const text = toStreamText(markdown.slice(0, end));
        assert.ok(text.startsWith(sent));
        assert.deepEqual(livesIn(text.slice(sent.length)), []);
        sent = text;
      }
      assert.deepEqual(livesIn(sent), []);
      assert.ok(markdown.startsWith(asWritten(sent)));
    }),
    { numRuns: 200 },
  );
});

test('H6 a long run of spaces in a stream costs no time', () => {
  const before = performance.now();
  toStreamText(`a${' .:'.repeat(100_000)}b`);
  assert.ok(performance.now() - before < 5_000);
});

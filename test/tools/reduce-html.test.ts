import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { pageToMarkdown } from '../../src/tools/web/page-to-markdown.ts';
import { reduceHtml } from '../../src/tools/web/reduce-html.ts';

const numRuns = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 100);
const base = 'https://example.com/dir/page';
const reduced = (html: string): string => reduceHtml(html, base).html;

/** Shapes that parsers and converters take seconds to minutes for at 2 MB. */
const shapes = [
  '<div>',
  '<div>x',
  '<p>',
  '<ul><li>',
  '<ul><li>x',
  '<b>',
  '<b><p>x',
  '<b><i><em><s><code><p>x',
  '<p><font>',
  '<a href=x>',
  '<table><tr><td>',
  '<table>x',
  '<blockquote>x',
  '<dl><dt>x<dd>y',
  '<pre>x',
  '<svg><a>',
  '<template>',
  '<script>',
  '<!--',
  '<',
  '</p>',
  '</br>',
  '<br>',
  '<h1>x',
  '<base ',
  '<title ',
  '<main>',
  '</main>',
  '<p a="',
  "<p a='",
  '<a/',
  '&amp;',
  '*a',
  '`',
];

test('T3 S6 whatever a page is made of, what is left is small and shallow', () => {
  for (const shape of shapes)
    for (const html of [shape.repeat(300_000 / shape.length), `<main>${shape.repeat(20_000)}</main>`]) {
      const { html: left } = reduceHtml(html, base);
      assert.ok(left.length < 350_000, shape);
      assert.ok((left.match(/<[a-z]/g)?.length ?? 0) <= 10_010, shape);
      let [depth, deepest] = [0, 0];
      for (const [tag] of left.matchAll(/<\/?(?:ul|ol|dl|blockquote|table|pre|strong|em|code|del)>/g)) {
        depth += tag.startsWith('</') ? -1 : 1;
        deepest = Math.max(deepest, depth);
      }
      assert.ok(deepest <= 12, `${shape} ${deepest}`);
    }
});

test('T3 S6 any soup of tags becomes Markdown without a fault, and no tag is left', () => {
  const soup = fc.array(
    fc.oneof(
      fc.constantFrom(...shapes),
      fc.constantFrom(
        '</a>',
        '</ul>',
        '</table>',
        '</b>',
        '</main>',
        '-->',
        '</script>',
        '</svg>',
        '">',
        "'>",
        '>',
        ' ',
        '\n',
      ),
      fc.string({ maxLength: 8 }),
    ),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(soup, (pieces) => {
      const { markdown } = pageToMarkdown(pieces.join(''), base);
      assert.doesNotMatch(markdown, /<\/?(?:script|svg|table|div|ul|p)>/);
    }),
    { numRuns },
  );
});

test('T3 links are absolute and lead to the web or a mailbox; others are text', () => {
  for (const [href, there] of [
    ['/a?b=1&amp;c=2', 'https://example.com/a?b=1&amp;c=2'],
    ['b', 'https://example.com/dir/b'],
    ['//other.test/x', 'https://other.test/x'],
    ['mailto:a@b.test', 'mailto:a@b.test'],
    ['https://x.test/"<b>', 'https://x.test/%22%3Cb%3E'],
  ] as const)
    assert.equal(reduced(`<a title="t" href='${href}'>x</a>`), `<a href="${there}">x</a>`);
  for (const href of [
    'javascript:alert(1)',
    'data:text/html,x',
    '#part',
    'file:///etc/passwd',
    'http://[',
    '',
  ])
    assert.equal(
      reduced(`<a href="${href}">x</a>`).replaceAll('<p></p>', ''),
      href === '' ? `<a href="${base}">x</a>` : 'x',
      href,
    );
  assert.match(
    pageToMarkdown('<base href="/root/"><a href="x">y</a>', base).markdown,
    /\(https:\/\/example\.com\/root\/x\)/,
  );
});

test('T3 what is no content is left out: scripts, styles, frames, drawings, menus, comments', () => {
  for (const html of [
    '<script>if (a<b) x("</p>")</script>',
    '<style>p{}</style>',
    '<iframe src=x>y</iframe>',
    '<svg><text>y</text></svg>',
    '<nav><ul><li>Home</ul></nav>',
    '<noscript>on</noscript>',
    '<!-- a > b -->',
    '<select><option>x</select>',
    '<!doctype html>',
    '<template><p>x</template>',
    '<svg><svg>a</svg>b</svg>',
    '<SCRIPT >x</ScRiPt >',
    '<textarea><p></textarea>',
  ])
    assert.equal(reduced(`a${html}b`), 'ab', html);
});

test('T3 text stays what it says: references, lone signs, quotes in attributes', () => {
  const { markdown } = pageToMarkdown(
    '<p title="a > b" class=x>1 &lt; 2 < 3 &amp; 4 &copy; <i>it</i> _a_ [b] 1.',
    base,
  );
  assert.equal(markdown, '1 < 2 < 3 & 4 © _it_ _a_ [b] 1.');
});

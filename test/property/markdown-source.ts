import fc from 'fast-check';

export const numRuns = Number(process.env['SKILLET_FUZZ_RUNS'] ?? 200);

/** Marks that a line begins with, or that end it. */
export const blockMarks = [
  '# ',
  '## x\n',
  '- ',
  '* a\n',
  '1. ',
  '7) b\n',
  '> ',
  '>> ',
  '- [x] ',
  '    ',
  '\t',
  '\n',
  '\n\n',
  '  \n',
  '\\\n',
];

/** Marks around words, and lines of marks. */
export const spanMarks = [
  '*',
  '**',
  '***',
  '_',
  '__',
  '~~',
  '~',
  '`',
  '``',
  '```\n',
  '```js\n',
  '~~~\n',
  '\\',
  '---\n',
  '===\n',
  '&',
  '&lt;',
];

const fragments = [
  ...blockMarks,
  ...spanMarks,
  ...[
    '[',
    ']',
    '](',
    ')',
    '![',
    '<',
    '>',
    '|',
    '|a|b|\n|-|:-:|\n',
    '| c | d |\n',
    '[x]: http://a.b/c\n',
    '[x]',
    '[^1]',
    '"',
  ],
  ...[
    '[a](http://b.c)',
    '[a](javascript:alert(1))',
    '![i](https://x.y/z.png)',
    '<http://q.r>',
    '<slack://open|x>',
    'www.a.bc',
  ],
  ...[
    'https://u.v/?a=1&b=<2>|',
    'me@there.org',
    'mailto:a@b.cd',
    'tel:1',
    '[t](tg://user?id=1)',
    '[ ]( http://a.b "t")',
  ],
  ...[
    '<!channel>',
    '<@U123>',
    '<!subteam^S1>',
    '@here',
    '@channel',
    '@everyone',
    '<#C1>',
    '&lt;!here&gt;',
    '\\<!channel\\>',
  ],
  ...[
    '<b>',
    '</b>',
    '<script>',
    '<!-- c -->',
    '<br>',
    '<a href="x">',
    '<pre>',
    '</code>',
    '&#60;b&#62;',
    '&#27;[1m',
    '&amp;lt;',
  ],
  ...[
    '\u001b[31m',
    '\u001b]8;;http://e.v\u0007',
    '\u0000',
    '\u009b2J',
    '\r',
    '\r\n',
    '\ud83d',
    '\ude00',
    '\u200d',
    '\ufeff',
    '\u202e',
  ],
  ...[
    '😀',
    '👩‍👩‍👧',
    'é',
    'ß',
    '漢字',
    'مرحبا',
    'e\u0301',
    'word',
    'a',
    '1',
    '.',
    ' ',
    ' and more words here. ',
    '_x',
    '!',
  ],
];

/** Text that looks like Markdown gone wrong in every way, and now and then like none at all. */
export const markdownSource: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(fc.constantFrom(...fragments), { maxLength: 40 }).map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 200 }) },
);

/** White space is layout: it may change where text is cut or written anew. */
export function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}

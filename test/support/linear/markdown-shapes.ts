/** `unit` over and over, after `head`, `length` characters in all. */
const shape =
  (unit: string, head = '') =>
  (length: number): string =>
    `${head}${unit.repeat(Math.ceil(length / unit.length))}`.slice(0, length);

/** What models answer, and what makes a parser of Markdown slow: by name, of any length. */
export const markdownShapes: Readonly<Record<string, (length: number) => string>> = {
  paragraphs: shape(
    'Words of *people*, see [this](https://example.com/a?b=c) now. It is & was "so".\n\nA line. ',
  ),
  'a table with marks': shape(
    '| **one** | `two` | [x](https://a.example) |\n',
    '| a | b | c |\n| - | - | - |\n',
  ),
  'a table of words': shape('| one | two: a/b | three |\n', '| a | b | c |\n| - | - | - |\n'),
  'rows without a rule': shape('| one | two | three |\n'),
  'code in backticks': shape('`a` and '),
  'runs of backticks': shape('` ``  ``` a '),
  backticks: shape('`'),
  'nested quotes': shape('> > > a quote\n> > b\n> c\n\n'),
  'nested lists': shape('- one\n  - two\n    - three\n'),
  'a list with marks': shape('- one **two** three\n'),
  tasks: shape('- [ ] do it\n'),
  'underlined headings': shape('Title\n---\n'),
  headings: shape('# Title\n\n'),
  links: shape('[a](https://example.com/b) '),
  addresses: shape('https://example.com/b me@example.com '),
  'half links': shape('[a '),
  emphasis: shape('**a *b* c** _d_ '),
  'half emphasis': shape('*a '),
  'character references': shape('&amp; &lt;a&gt; &copy; '),
  'tags with breaks': shape('<b>bold</b> <i>x</i><br>'),
  'blocks of HTML': shape('<div>\n<p>a</p>\n</div>\n\n'),
  escapes: shape('\\* \\_ '),
  formulas: shape('$a_1 = b^2$ and \\(x\\) '),
  fences: shape('```js\nlet a = 1;\n```\n\n'),
  'one long line': shape('abcdefghij'),
};

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitMarkdown } from '../../src/lib/markdown/split-markdown.ts';
import { telegramFits, toTelegramHtml, toTelegramText } from '../../src/channels/telegram/from-markdown.ts';

test('H2 Telegram gets its own tags for every mark that it knows', () => {
  assert.equal(
    toTelegramHtml('**b** *i* ~~s~~ `c<d>` [l](https://x.example/?a=1&b=2)'),
    '<b>b</b> <i>i</i> <s>s</s> <code>c&lt;d&gt;</code> <a href="https://x.example/?a=1&amp;b=2">l</a>',
  );
  assert.equal(toTelegramHtml('# A **b** title\n\ntext'), '<b>A b title</b>\n\ntext');
  assert.equal(
    toTelegramHtml('```ts\nif (a < b) {}\n```\n\n```\nx\n```'),
    '<pre><code class="language-ts">if (a &lt; b) {}</code></pre>\n\n<pre>x</pre>',
  );
  assert.equal(
    toTelegramHtml('> one\n>\n> > two'),
    '<blockquote>one\n&gt; two</blockquote>',
    'a quote inside a quote, which Telegram has not',
  );
});

test('H2 marks beside punctuation are read in scripts without spaces, and where a phrase ends', () => {
  for (const [markdown, html] of [
    ['**「重要」**です', '<b>「重要」</b>です'],
    ['これは**「重要」**です', 'これは<b>「重要」</b>です'],
    ['**粗体：**后面', '<b>粗体：</b>后面'],
    ['**중요!**는', '<b>중요!</b>는'],
    ['و**«مهم»**و', 'و<b>«مهم»</b>و'],
    ['~~「削除」~~です', '<s>「削除」</s>です'],
    ['**`npm`**を', '<b><code>npm</code></b>を'],
    ['**完了！**👍', '<b>完了！</b>👍'],
    ['*(note)*text', '<i>(note)</i>text'],
    ['*foo (*bar*) baz*', '<i>foo (bar) baz</i>'],
    ['2*(3+4)*x and 2*3*4', '2*(3+4)*x and 2*3*4'],
  ] as const) {
    assert.equal(toTelegramHtml(markdown), html);
  }
});

test('H2 Telegram gets lists as lines, with numbers, boxes and indentation', () => {
  assert.equal(
    toTelegramHtml('- a\n- b\n  1. c\n  2. d\n- [x] e\n- [ ] f\n\n7. g\n8. h'),
    '• a\n• b\n  1. c\n  2. d\n☑ e\n☐ f\n\n7. g\n8. h',
  );
});

test('H2 Telegram gets tables as aligned fixed-width text', () => {
  assert.equal(
    toTelegramHtml('| name | n |\n|---|--:|\n| **a** | 1 |\n| 漢字 | 22 |\n| x<br>y | `3` |'),
    '<pre>name |  n\n-----+---\na    |  1\n漢字 | 22\nx y  |  3</pre>',
  );
});

test('H2 a table too wide for a phone is a paragraph for each row, its links live', () => {
  const wide = 'a long enough text that no phone shows two of them in one line';
  assert.equal(
    toTelegramHtml(
      `| name | what | where |\n|---|---|---|\n| **Aa** | ${wide} | [l](https://x.example/) |\n| Bb | | \`b\` |`,
    ),
    `<b>name: Aa</b>\nwhat: ${wide}\nwhere: <a href="https://x.example/">l</a>\n\n<b>name: Bb</b>\nwhere: <code>b</code>`,
  );
  assert.equal(toTelegramHtml(`| name | ${wide} |\n|---|---|`), `name\n${wide}`, 'a header alone');
  assert.equal(toTelegramHtml(`| name | ${wide} |\n|---|---|\n| | |`), `name\n${wide}`, 'an empty row');
  const rows = `| ${wide} |\n`.repeat(400);
  for (const piece of splitMarkdown(`| a |\n|---|\n${rows}`, telegramFits)) assert.ok(telegramFits(piece));
});

test('H2 a package is code, a person is broken, so that both can be read and nobody is pinged', () => {
  assert.equal(toTelegramHtml('npm i @types/node@24.1.0, now'), 'npm i <code>@types/node@24.1.0</code>, now');
  assert.equal(toTelegramHtml('ask @anna or me@there.example'), 'ask @\u2060anna or me@there.example');
  assert.equal(
    toTelegramText('npm i @types/node'),
    'npm i @\u2060types/node',
    'without marks nothing is code',
  );
});

test('H2 what only other Markdown has is text, a titled quote has its title', () => {
  assert.equal(toTelegramHtml('H~2~O in ~5 minutes'), 'H~2~O in ~5 minutes');
  assert.equal(
    toTelegramHtml('> [!NOTE]\n> Read **this**.'),
    '<blockquote><b>Note</b>\nRead <b>this</b>.</blockquote>',
  );
  assert.equal(toTelegramHtml('> [!NOTE]'), '<blockquote><b>Note</b></blockquote>');
  assert.equal(toTelegramHtml('> [!x]\n> y'), '<blockquote>[!x]\ny</blockquote>');
});

test('H2 an image is a link, and only http, https and mailto links are live', () => {
  assert.equal(
    toTelegramHtml('![cat](https://x.example/c.png)'),
    '<a href="https://x.example/c.png">cat</a>',
  );
  assert.equal(
    toTelegramHtml('![](https://x.example/c.png)'),
    '<a href="https://x.example/c.png">https://x.example/c.png</a>',
  );
  assert.equal(
    toTelegramHtml('[![logo](https://x.example/l.png)](https://x.example/)'),
    '<a href="https://x.example/">logo</a>',
  );
  assert.equal(
    toTelegramHtml('[a](javascript:alert(1)) [b](tg://user?id=1) <slack://x>'),
    'a (javascript:alert(1)) b (tg://user?id=1) slack://x',
  );
  assert.equal(toTelegramHtml('[r][1]\n\n[1]: https://x.example/r'), '<a href="https://x.example/r">r</a>');
});

test('H2 a link that Telegram would drop is written out', () => {
  assert.equal(toTelegramHtml('[mail](mailto:a@b.example)'), 'mail (a@b.example)');
  assert.equal(toTelegramHtml('a@b.example'), 'a@b.example');
  assert.equal(toTelegramHtml('[panel](http://server:3000/x)'), 'panel (http://server:3000/x)');
  assert.equal(toTelegramHtml('http://localhost:3000'), 'http://localhost:3000');
});

test('H2 HTML that a chat can not show is text, and no tag does more than its Markdown', () => {
  assert.equal(
    toTelegramHtml('<a href="tg://user?id=1">x</a> &lt;b&gt; \\<i> `<u>` <script>**b**</script>'),
    'x (tg://user?id=1) &lt;b&gt; &lt;i&gt; <code>&lt;u&gt;</code> &lt;script&gt;<b>b</b>&lt;/script&gt;',
  );
  for (const kept of ['<b>a', 'a</b>', 'the <div> tag here', 'a < b and c > d', '<foo>', '<br', '<br>'])
    assert.equal(toTelegramHtml(kept), kept.replaceAll('<', '&lt;').replaceAll('>', '&gt;'));
  assert.equal(toTelegramHtml('<b>a <i>b</b> c</i>'), '<b>a &lt;i&gt;b</b> c&lt;/i&gt;');
  assert.equal(
    toTelegramHtml('```"><b>\nx\n```'),
    '<pre>x</pre>',
    'the word after a fence is no place for tags',
  );
});

test('H2 the HTML that models write is what it means', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['a<br>b<br/>c', 'a\nb\nc'],
    ['<details>\n<summary>More</summary>\n\n- **x**\n\n</details>', '<b>More</b>\n\n• <b>x</b>'],
    ['H<sub>2</sub>O, x<sup>2</sup>, e<sup>n</sup>, e<sup>-k t</sup>', 'H₂O, x², e^n, e^(-k t)'],
    [
      '<KBD>Ctrl</KBD> <u>a **b**</u> <del>c</del> <strong class="x">d</strong>',
      '<code>Ctrl</code> <i>a <b>b</b></i> <s>c</s> <b>d</b>',
    ],
    ['a<!-- hidden --> b', 'a b'],
    [
      '<img src="https://example.org/x.png">',
      '<a href="https://example.org/x.png">https://example.org/x.png</a>',
    ],
    ["<img alt='Chart' src=https://example.org/x.png />", '<a href="https://example.org/x.png">Chart</a>'],
    [
      '<a href="https://example.org/?a=1&b=2" target="_blank">here</a>',
      '<a href="https://example.org/?a=1&amp;b=2">here</a>',
    ],
    ['<div align="center">\n\n# T\n\n</div>\n<p>one</p>', '<b>T</b>\n\none'],
    [
      '<https://example.org/a|my page> and **<https://example.org|b>**',
      '<a href="https://example.org/a">my page</a> and <b><a href="https://example.org/">b</a></b>',
    ],
  ];
  for (const [markdown, html] of cases) assert.equal(toTelegramHtml(markdown), html);
});

test('H2 names that Telegram would link, or Markdown would change, stay names', () => {
  const code = (name: string): string => `<code>${name}</code>`;
  for (const name of ['README.md', 'main.py', 'src/lib.rs', './setup.sh', 'a-b.c.zip', '__init__.py'])
    assert.equal(toTelegramHtml(`see ${name}, ${name}:12`), `see ${code(name)}, ${code(name)}:12`);
  for (const text of ['example.org', 'ann@mail.md', 'https://example.org/README.md?x', 'x.mdx', 'v1.2'])
    assert.doesNotMatch(toTelegramHtml(text), /<code>/);
  assert.equal(
    toTelegramHtml('__name__ and __all_of_it__, __Bold words__, a__b__'),
    '__name__ and __all_of_it__, <b>Bold words</b>, a__b__',
  );
});

test('H2 text that nobody can see has no pieces', () => {
  for (const blank of ['', ' \n ', '\u200b', '\u2060\u00ad\ufeff', '\u3164\u2800'])
    assert.deepEqual(splitMarkdown(blank, telegramFits), []);
});

test('H2 the plain form says the same as the HTML', () => {
  const markdown = '# T\n\n**b** `c` [l](https://x.example)\n\n- a\n\n> q\n\n```js\nx\n```';
  assert.equal(toTelegramText(markdown), 'T\n\nb c l\n\n• a\n\nq\n\nx');
});

test('H2 text that is not blank never becomes blank', () => {
  for (const markdown of [
    '[a]: http://b.example',
    '```\n```',
    '---',
    '# ',
    '****',
    '- ',
    '>',
    '| |\n|-|',
    '<br>',
  ]) {
    assert.notEqual(toTelegramText(markdown).trim(), '', markdown);
    assert.equal(splitMarkdown(markdown, telegramFits).length, 1, markdown);
  }
  for (const blank of ['', ' \n\t\n', '\u009b2J']) assert.deepEqual(splitMarkdown(blank, telegramFits), []);
});

test('H2 a message is 4,096 UTF-16 units after the marks are taken away', () => {
  assert.equal(telegramFits('**' + 'x'.repeat(4096) + '**'), true);
  assert.equal(telegramFits('x'.repeat(4097)), false);
  assert.equal(telegramFits('😀'.repeat(2048)), true);
  assert.equal(telegramFits('😀'.repeat(2049)), false);
  assert.equal(
    telegramFits('[x](https://e.example/) '.repeat(101)),
    false,
    'Telegram would drop marks past the 100th',
  );
  assert.equal(
    telegramFits(`[a](https://e.example/${'%20'.repeat(400)}) `.repeat(30)),
    false,
    'over 32,768 bytes',
  );
});

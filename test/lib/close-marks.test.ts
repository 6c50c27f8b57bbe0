import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeMarks } from '../../src/lib/markdown/close-marks.ts';
import { visibleText } from '../../src/lib/markdown/document.ts';
import { parseMarkdown } from '../../src/lib/markdown/parse-markdown.ts';
import { toSlackMessage } from '../../src/channels/slack/from-markdown.ts';
import { toTelegramText } from '../../src/channels/telegram/from-markdown.ts';

const cases: readonly (readonly [string, string])[] = [
  ['It is **so', 'It is **so**'],
  ['It is **so*', 'It is **so**'],
  ['It is **', 'It is'],
  ['It is *so', 'It is *so*'],
  ['It is _so and **then', 'It is _so and **then**_'],
  ['a `co', 'a `co`'],
  ['a ``co`de', 'a ``co`de``'],
  ['a `', 'a'],
  ['~~gone', '~~gone~~'],
  ['See [the page](https://exa', 'See the page'],
  ['See [the pa', 'See the pa'],
  ['See ![the pa', 'See'],
  ['See [the page](https://example.org/a_b_c) and', 'See [the page](https://example.org/a_b_c) and'],
  ['2 * 3 = 6', '2 * 3 = 6'],
  ['snake_case_name', 'snake_case_name'],
  ['* item\n* **it', '* item\n* **it**'],
  ['**a** and **b**', '**a** and **b**'],
  ['```ts\nconst a = **b', '```ts\nconst a = **b'],
  ['**open\n\nnext', '**open\n\nnext'],
  ['\\*so', '\\*so'],
  ['| a | b |\n|---|---|\n| **c', '| a | b |\n|---|---|\n| **c**'],
  ['a ``code`', 'a ``code``'],
  ['See [the page]', 'See the page'],
  ['See ![the page]', 'See'],
  ['an [x] of', 'an [x] of'],
  ['See <https://exa', 'See'],
  ['a <b', 'a'],
  ['a < b', 'a < b'],
  ['A &am', 'A'],
  ['R&D', 'R&D'],
  ['a \\', 'a'],
  ['a \\\\', 'a \\\\'],
  ['So:\n\n##', 'So:'],
  ['So:\n-', 'So:'],
  ['So:\n\n- [x', 'So:'],
  ['So:\n\n>', 'So:'],
  ['So:\n\n```p', 'So:'],
  ['```\nx\n``', '```\nx'],
  ['~~~\nx\n~~~', '~~~\nx\n~~~'],
  ['| a', '| a |\n|---|'],
  ['So:\n\n| a | b |\n|--', 'So:\n\n| a | b |\n|---|---|'],
  ['| a \\| b | `c|d` |', '| a \\| b | `c|d` |\n|---|---|'],
  ['| a | b |\n|---|---|\n| c', '| a | b |\n|---|---|\n| c'],
  ['', ''],
];
for (const [written, shown] of cases)
  test(`H6 marks that are open at the end are closed: ${JSON.stringify(written)}`, () => {
    assert.equal(closeMarks(written), shown);
  });

const answer = [
  '# Week **48**',
  'It is **very _good_ news**, see [the page](https://example.org/x "title") and `npm run`, ``or`` ***so***.',
  '- one *thing*\n- ~~two~~\n  - inner `c`\n- [x] done\n- [ ] open',
  '1. first\n2. **second**',
  '| name | value |\n|------|:-----:|\n| one | **1** |\n| two | `2` |',
  '> quoted **text**\n> more',
  '```python\nprint(1)\n```',
  '~~~\nlet a\n~~~',
  'Title\n-----\n\nA<br>B and <https://example.org/z>, ![pic](https://example.org/i.png), C &amp; D.',
].join('\n\n');

test('H6 no prefix of an answer shows a half mark on either platform', () => {
  // Characters of the text itself, and what a table is laid out with.
  const own = /C &|https?:\S*|^.*[|+].*$|^-+$|-{3,}/gm;
  for (let end = 1; end <= answer.length; end++) {
    const shown = closeMarks(answer.slice(0, end));
    const slack = visibleText(parseMarkdown(toSlackMessage(shown).blocks[0]?.text ?? ''));
    for (const text of [toTelegramText(shown), slack])
      assert.doesNotMatch(
        text.replace(own, ''),
        /[*_`~[\]|#<>\\&]|^\s*[+=]+$|--/m,
        JSON.stringify(answer.slice(Math.max(0, end - 40), end)),
      );
    assert.doesNotMatch(slack, /\|/);
  }
  assert.equal(closeMarks(answer), answer);
});

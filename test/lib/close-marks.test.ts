import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeMarks } from '../../src/lib/markdown/close-marks.ts';
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
  ['', ''],
];
for (const [written, shown] of cases)
  test(`H6 marks that are open at the end are closed: ${JSON.stringify(written)}`, () => {
    assert.equal(closeMarks(written), shown);
  });

test('H6 no prefix of an answer shows a half mark', () => {
  const answer =
    '# Week **48**\n\nIt is **very _good_ news**, see [the page](https://example.org/x) and `npm **run**`.\n\n- one *thing*\n- ~~two~~\n';
  for (let end = 1; end <= answer.length; end++) {
    const shown = toTelegramText(closeMarks(answer.slice(0, end)));
    assert.doesNotMatch(
      shown.replace('npm **', '').replace('**run**', ''),
      /\*\*\w|_\w|~~|\]\(|\[(?!the page\]$)|https/,
      JSON.stringify(answer.slice(0, end)),
    );
  }
});

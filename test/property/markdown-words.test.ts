import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { visibleText } from '../../src/lib/markdown/document.ts';
import { parseMarkdown } from '../../src/lib/markdown/parse-markdown.ts';
import { splitMarkdown } from '../../src/lib/markdown/split-markdown.ts';
import { toSlackMessage } from '../../src/channels/slack/from-markdown.ts';
import { telegramFits, toTelegramHtml, toTelegramText } from '../../src/channels/telegram/from-markdown.ts';
import { parseHtml } from '../servers/telegram/parse-html.ts';
import { blockMarks, numRuns, spanMarks } from './markdown-source.ts';

/** Marks of all kinds, whole, half and in each other. */
const marks = [
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
    '| a | b |\n|---|---|\n| ',
    '\n| ',
    '"',
    '(',
    '==',
    '$',
    '$$',
  ],
  ...['\\(', '\\)', '\\[', '\\]', '[x]: http://a.b/c\n', '[x]', '[x]: ', '[^1]', '[^1]: ', '[!NOTE]\n'],
  ...['[a](http://b.c)', '<http://q.r>', 'https://u.v/x ', '![i](https://x.y/z.png)', '[ ]( http://a.b "t")'],
  ...[
    '<b>',
    '</b>',
    '<br>',
    '</code>',
    '<sub>',
    '</sub>',
    '<details>',
    '<summary>',
    '</details>',
    '<a href="x">',
  ],
  ...['| one column that is quite wide | another wide column | and a third wide one |\n|---|---|---|\n| '],
  ...[' ', ' ', ' ', '. ', ', ', '漢字', '😀', '!'],
];
const pieces = fc.array(fc.oneof(fc.constantFrom(...marks), fc.constant(undefined), fc.constant(undefined)), {
  maxLength: 30,
});

/** Each `undefined` becomes a word of its own, some with a space after it. */
function written(parts: readonly (string | undefined)[]): string {
  return parts.map((part, index) => part ?? `w${index}w${index % 3 === 0 ? '' : ' '}`).join('');
}

/** In the order of their first appearance: a wide table repeats its header. */
const wordsIn = (text: string): readonly string[] => [...new Set(text.match(/w\d+w/g))];

/** The line that opens code says what language it is in. */
const withoutFences = (source: string): string => source.replace(/^.*(?:`{3}|~{3}).*$/gm, '');

test('H2 every word shows, in the order in which it was written, on both platforms', () => {
  fc.assert(
    fc.property(pieces, (parts) => {
      const source = written(parts);
      const { text, blocks } = toSlackMessage(source);
      const forms = {
        text: toTelegramText(source),
        html: parseHtml(toTelegramHtml(source)).text,
        mrkdwn: text,
        block: visibleText(parseMarkdown(blocks[0]?.text ?? '')),
        pieces: splitMarkdown(source, telegramFits).join('\n'),
      };
      const all = wordsIn(source);
      for (const [form, shown] of Object.entries(forms)) {
        const found = wordsIn(shown);
        assert.deepEqual(
          found,
          all.filter((word) => found.includes(word)),
          `${form}: ${JSON.stringify(source)}`,
        );
        const lost = wordsIn(withoutFences(source)).filter((word) => !found.includes(word));
        assert.deepEqual(lost, [], `${form}: ${JSON.stringify(source)}`);
      }
    }),
    { numRuns: numRuns * 3 },
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toSlackMessage } from '../../src/channels/slack/from-markdown.ts';
import { toTelegramHtml } from '../../src/channels/telegram/from-markdown.ts';

/** What models write that no platform draws: the source, and how it reads on Telegram. */
const notations: readonly (readonly [string, string])[] = [
  ['Area \\(\\pi r^2\\), side \\(a\\)', 'Area <code>\\pi r^2</code>, side <code>a</code>'],
  ['\\[\nE = mc^2 \\\\\n\\text{so}\n\\]', '<code>E = mc^2 \\\\ \\text{so}</code>'],
  ['$$\\frac{1}{2}$$ of $x$', '<code>\\frac{1}{2}</code> of <code>x</code>'],
  ['$a_1 * b_1 * c = 0$, at $5 and $10', '<code>a_1 * b_1 * c = 0</code>, at $5 and $10'],
  ['costs $5_000 and $6', 'costs $5_000 and $6'],
  ['$HOME=$PATH, US$5=x and $y', '$HOME=$PATH, US$5=x and $y'],
  ['\\[no link\\] \\(so', '[no link] (so'],
  ['`$a=b$` and `\\(x\\)`', '<code>$a=b$</code> and <code>\\(x\\)</code>'],
  ['so[^1] and so[^12].\n\n[^1]: Two words', 'so¹ and so¹².\n\n¹ Two words'],
  ['so.\n\n[^1]: Smith', 'so.\n\n¹ Smith'],
  ['<b>so[^1]</b> and <i>==this==</i>', '<b>so¹</b> and <i><b>this</b></i>'],
  ['so[^2].\n\n[^2]: https://e.org/', 'so<a href="https://e.org/">²</a>.'],
  ['[Note]: important', '[Note]: important'],
  ['an ==old== word, a==b, a == b, ====', 'an <b>old</b> word, a==b, a == b, ===='],
  ['a ` ` b', 'a   b'],
  ['so\n\n```\n```', 'so'],
];

for (const [source, shown] of notations)
  test(`H2 TeX, footnotes and highlights lose nothing and read well: ${JSON.stringify(source)}`, () => {
    assert.equal(toTelegramHtml(source), shown);
    const { blocks } = toSlackMessage(source);
    assert.equal(toTelegramHtml(blocks[0]?.text ?? ''), shown, blocks[0]?.text);
  });

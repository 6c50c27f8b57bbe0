import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPreview } from '../../src/channels/preview.ts';

const short = (markdown: string): boolean => markdown.length <= 400;

/** What a preview shows of a text that grows by `step` characters. */
function shownOf(text: string, step: number): readonly string[] {
  const preview = createPreview(short, 800);
  const shown: string[] = [];
  for (let end = step; end < text.length + step; end += step) shown.push(preview(text.slice(0, end)));
  return shown;
}

const lines = Array.from({ length: 200 }, (_, index) => `Line ${index} of the answer.`);
const answers: Readonly<Record<string, string>> = {
  paragraphs: lines.join('\n\n'),
  lines: lines.join('\n'),
  'one line': lines.join(' '),
  'no spaces': '界'.repeat(3_000),
  emoji: '👍🏽'.repeat(900),
  code: `\`\`\`python\n${lines.join('\n')}\n\`\`\`\nDone.`,
  table: `| a | b |\n|---|---|\n${lines.map((line, index) => `| ${line} | **${index}** |`).join('\n')}`,
  items: lines.map((line) => `- **${line}** and _more_`).join('\n'),
};

for (const [what, text] of Object.entries(answers))
  for (const step of [17, 130, 2_500])
    test(`H6 a preview of ${what} shows the newest piece at each step of ${step}, and never too much`, () => {
      const shown = shownOf(text, step);
      for (const [index, piece] of shown.entries()) {
        assert.ok(short(piece) && piece !== '', `${index}: ${piece.length}`);
        const newest = text
          .slice(0, (index + 1) * step)
          .replace(/[`*_|\s-]+$/, '')
          .slice(-5);
        assert.ok(
          piece.includes(newest),
          `${index}: ${JSON.stringify(newest)} in ${JSON.stringify(piece.slice(-60))}`,
        );
      }
    });

test('H6 a piece that begins in code or a table has its head', () => {
  const [code = '', table = ''] = ['code', 'table'].map((what) => shownOf(answers[what] ?? '', 100).at(-8));
  assert.match(code, /^```python\nLine \d+/);
  assert.match(table, /^\| a \| b \|\n\|---\|---\|\n\| Line/);
});

test('H6 words that begin anew are shown from their beginning', () => {
  const preview = createPreview(short, 800);
  preview(answers['lines'] ?? '');
  assert.equal(preview('Something **else'), 'Something **else**');
});

test('H6 what filled a message is never looked at again', () => {
  let looked = 0;
  const preview = createPreview((markdown) => {
    looked = Math.max(looked, markdown.length);
    return short(markdown);
  }, 800);
  const text = answers['paragraphs'] ?? '';
  for (let end = 50; end <= text.length; end += 50) preview(text.slice(0, end));
  assert.ok(looked < 900, String(looked));
});

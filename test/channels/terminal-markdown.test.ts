/* eslint-disable no-control-regex -- control characters are what is looked for */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toAnsi } from '../../src/channels/terminal/from-markdown.ts';
import { markdownSource, numRuns } from '../property/markdown-source.ts';

test('H5 Markdown is shown with letter shapes and colours, or as plain text', () => {
  const markdown =
    '# T **b**\n\n**b** *i* ~~s~~ `c` [l](https://x.example/a)\n\n- one\n- two\n\n> q\n\n```js\nx < 1\n```';
  assert.equal(
    toAnsi(markdown, { colour: false }),
    'T b\n\nb i s c l (https://x.example/a)\n\n• one\n• two\n\n│ q\n\n  x < 1',
  );
  assert.equal(
    toAnsi(markdown, { colour: true }).replaceAll('\u001b', '^'),
    '^[1mT b^[22m\n\n^[1mb^[22m ^[3mi^[23m ^[9ms^[29m ^[36mc^[39m ^[4ml^[24m (https://x.example/a)\n\n• one\n• two\n\n│ q\n\n  x < ^[33m1^[39m',
  );
  assert.equal(
    toAnsi('<https://x.example/> a@b.example', { colour: false }),
    'https://x.example/ a@b.example',
  );
});

test('H5 paragraphs are broken at the width of the terminal, code and tables are not', () => {
  const words = 'a bb ccc dddd eeeee ffffff ggggggg';
  assert.equal(toAnsi(`- ${words}`, { colour: false, width: 24 }), '• a bb ccc dddd eeeee\n  ffffff ggggggg');
  assert.equal(toAnsi(`> ${words}`, { colour: false, width: 24 }), '│ a bb ccc dddd eeeee\n│ ffffff ggggggg');
  assert.equal(toAnsi(`\`\`\`\n${words}\n\`\`\``, { colour: false, width: 24 }), `  ${words}`);
  assert.equal(
    toAnsi('漢字 漢字 漢字 漢字 漢字 漢字', { colour: false, width: 20 }),
    '漢字 漢字 漢字 漢字\n漢字 漢字',
  );
});

test('S6 no text puts a control sequence of its own on a terminal', () => {
  fc.assert(
    fc.property(
      markdownSource,
      fc.boolean(),
      fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }),
      (source, colour, width) => {
        const shown = toAnsi(source, { colour, ...(width === undefined ? {} : { width }) });
        const own = colour ? /\u001b\[(?:1|22|3|23|9|29|3[2356]|39|90|4|24)m/g : /(?!)/g;
        assert.doesNotMatch(shown.replace(own, ''), /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      },
    ),
    { numRuns },
  );
});

test('H5 code is coloured by its look: comments, texts, numbers and keywords of many languages', () => {
  const shown = (code: string, language: string) =>
    toAnsi(`\`\`\`${language}\n${code}\n\`\`\``, { colour: true })
      .trim()
      .replaceAll('\u001b[39m', '>')
      .replace(/\u001b\[(\d+)m/g, '<$1:');
  assert.equal(
    shown('if x == 10: return "a # b" # why', 'python'),
    '<35:if> x == <33:10>: <35:return> <32:"a # b"> <90:# why>',
  );
  assert.equal(shown('const a = 1; // no', 'ts'), '<35:const> a = <33:1>; <90:// no>');
  assert.equal(shown('if x', ''), '<36:if x>');
});

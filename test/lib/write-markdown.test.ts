import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visibleText } from '../../src/lib/markdown/document.ts';
import { parseMarkdown } from '../../src/lib/markdown/parse-markdown.ts';
import { writeAndRead } from '../../src/lib/markdown/write-markdown.ts';

test('S15 H2 what is written without being read again reads back as the same', () => {
  const words = ['a', 'Ü 1', '1', '1.', '-', '- a', '+', '+ a', '', '...', '(a)', '"q"', '5 %', 'a  b', '#'];
  const more = [
    'www.a.example',
    'a-b',
    "it's",
    'a!',
    '---',
    '===',
    'a | b',
    '*a*',
    '`a`',
    '日本',
    '-5',
    'A) b',
  ];
  for (const word of [...words, ...more])
    for (const document of [
      parseMarkdown(word),
      parseMarkdown(`# ${word}\n\n${word}\n\n---\n\n${word}`),
      parseMarkdown(`| ${word} |\n| --- |\n| ${word} |`),
      parseMarkdown(`Before\n\n| ${word} | b |\n| --- | --- |\n| b | ${word} |\n|  | ${word} |\n\nAfter`),
    ]) {
      const { markdown, document: read } = writeAndRead(document);
      assert.equal(visibleText(parseMarkdown(markdown)), visibleText(read), JSON.stringify(word));
      assert.deepEqual(
        parseMarkdown(markdown).children.map(({ type }) => type),
        read.children.map(({ type }) => type),
        JSON.stringify(word),
      );
    }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMarkdownTask } from '../../src/lib/markdown/long-markdown.ts';
import { parseMarkdown } from '../../src/lib/markdown/parse-markdown.ts';
import { plainText } from '../../src/lib/markdown/render-text.ts';
import { splitPlain } from '../../src/lib/markdown/split-markdown.ts';
import { slackFits } from '../../src/channels/slack/from-markdown.ts';
import { telegramFits } from '../../src/channels/telegram/from-markdown.ts';
import { markdownShapes } from '../support/linear/markdown-shapes.ts';
import { quietLog } from '../support/quiet-log.ts';

const thread = (name: string): URL => new URL(`../support/workers/${name}`, import.meta.url);

function open(name = 'length-worker') {
  const log = quietLog();
  const task = createMarkdownTask<Readonly<{ markdown: string }>, string>(thread(name), {
    read: () => 'read here',
    plain: ({ markdown }) => `plain: ${markdown.length}`,
    log,
  });
  return { task: (markdown: string) => task({ markdown }), log };
}

test('S15 Markdown is read here up to 8,000 characters and 400 lines, beyond that in a thread', async () => {
  const { task } = open();
  assert.equal(await task('x'.repeat(8_000)), 'read here');
  assert.equal(await task('x\n'.repeat(399)), 'read here');
  assert.equal(await task('x'.repeat(8_001)), 'read in a thread: 8001');
  assert.equal(await task('x\n'.repeat(400)), 'read in a thread: 800');
});

test('S15 Markdown whose thread breaks is shown plain, the log says why, and the next one is read', async () => {
  const broken = open('no-such-worker');
  assert.equal(await broken.task('x'.repeat(9_000)), 'plain: 9000');
  const [line, ...more] = broken.log.lines;
  assert.deepEqual(more, []);
  assert.deepEqual([line?.level, line?.fields['why'], line?.fields['characters']], ['warn', 'failed', 9_000]);
  assert.equal(await broken.task('short'), 'read here');
});

test('H2 S15 text that was not read is cut into parts that fit every channel, and reads back as it was', () => {
  const wide = ['@a '.repeat(2_000), '\\`*_'.repeat(2_000), '&<>"'.repeat(2_000), '😀'.repeat(3_000)];
  for (const markdown of [...Object.values(markdownShapes).map((make) => make(8_000)), ...wide]) {
    const pieces = splitPlain({ markdown });
    const shown = pieces.map((piece) => plainText(parseMarkdown(piece))).join('');
    assert.equal(shown.replace(/\s/g, ''), markdown.replace(/\s/g, ''));
    for (const piece of pieces) {
      assert.ok(piece.length <= 8_000, 'it is sent without a thread');
      assert.ok(telegramFits(piece) && slackFits(piece), piece.slice(0, 80));
    }
  }
  assert.deepEqual(splitPlain({ markdown: ' \n\u200b' }), []);
});

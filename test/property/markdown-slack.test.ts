import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import type { Nodes } from 'mdast';
import { visibleText } from '../../src/lib/markdown/document.ts';
import { parseMarkdown } from '../../src/lib/markdown/parse-markdown.ts';
import { splitMarkdown } from '../../src/lib/markdown/split-markdown.ts';
import { slackFits, toSlackMarkdown, toSlackMessage } from '../../src/channels/slack/from-markdown.ts';
import { markdownSource, numRuns } from './markdown-source.ts';

const pings =
  /<[@#]\w|<!(?:channel|here|everyone|group|subteam|date)\b|(?<![\w.+\\-])@(?:channel|here|everyone)\b|@(?:channel|here|everyone)\b(?!\.\w)/i;

test('S6 no text makes a mention on Slack, however often its escapes are undone', () => {
  fc.assert(
    fc.property(markdownSource, (source) => {
      const { text, blocks } = toSlackMessage(source);
      for (let form of [text, blocks[0]?.text ?? '']) {
        for (let times = 0; times < 4; times += 1) {
          assert.doesNotMatch(form, pings);
          form = undo(form);
        }
      }
    }),
    { numRuns },
  );
});

test('H2 what any Markdown reader makes of the block has no image, no HTML and no link but http, https and mailto', () => {
  fc.assert(
    fc.property(markdownSource, (source) => {
      const tree = fromMarkdown(toSlackMessage(source).blocks[0]?.text ?? '', {
        extensions: [gfm()],
        mdastExtensions: [gfmFromMarkdown()],
      });
      for (const node of nodesOf(tree)) {
        assert.ok(!['image', 'imageReference', 'html', 'definition'].includes(node.type), node.type);
        if (node.type === 'link') assert.match(node.url, /^(?:https?:\/\/|mailto:)/);
      }
    }),
    { numRuns },
  );
});

test('H2 no mark needs a character reference, which Slack does not read', () => {
  fc.assert(
    fc.property(markdownSource, (source) => {
      // Else the text itself has one, and shows it escaped.
      fc.pre(!visibleText(parseMarkdown(source)).includes('&#'));
      assert.doesNotMatch(toSlackMarkdown(source), /&#/);
    }),
    { numRuns },
  );
});

test('H2 in mrkdwn every special character is escaped but those of live links', () => {
  fc.assert(
    fc.property(markdownSource, (source) => {
      const { text } = toSlackMessage(source);
      const rest = text
        .replace(/<(?:https?:\/\/|mailto:)[^<>|\s]+\|[^<>\n]*>/g, '')
        .replace(/^(?:> )+/gm, '');
      assert.doesNotMatch(rest, /<|&(?!(?:amp|lt|gt);)/);
    }),
    { numRuns },
  );
});

const corpora = process.env['SKILLET_CORPORA'] ?? path.join(import.meta.dirname, '../../../shared/corpora');
const limits = readLimits(path.join(corpora, 'slackblocks/spec/limits.json'));

test(
  'H2 every piece of an answer is a block within the limits of Block Kit',
  { skip: limits === undefined && `no Block Kit limits in ${corpora}` },
  () => {
    fc.assert(
      fc.property(
        fc.array(markdownSource, { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 8 }),
        (some, times) => {
          for (const piece of splitMarkdown(`${some.join('\n\n')}\n\n`.repeat(times), slackFits)) {
            const { text, blocks } = toSlackMessage(piece);
            for (const { text: block } of blocks) {
              assert.ok(
                limits !== undefined &&
                  block.length >= limits.min_length &&
                  block.length <= limits.max_length,
                block,
              );
            }
            assert.ok(text.length <= 12_000 && text.trim() !== '', `${text.length} ${JSON.stringify(piece)}`);
          }
        },
      ),
      { numRuns: Math.ceil(numRuns / 10) },
    );
  },
);

type Limits = Readonly<{ min_length: number; max_length: number }>;

function readLimits(file: string): Limits | undefined {
  try {
    const { markdown } = JSON.parse(readFileSync(file, 'utf8')) as Readonly<{
      markdown: Readonly<{ text: Limits }>;
    }>;
    return markdown.text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function nodesOf(node: Nodes): readonly Nodes[] {
  return 'children' in node ? [node, ...node.children.flatMap(nodesOf)] : [node];
}

function undo(text: string): string {
  return text
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/&#(?:x([0-9a-f]+)|(\d+));/gi, (_, hex: string | undefined, decimal: string | undefined) =>
      String.fromCodePoint(hex === undefined ? Number(decimal) : parseInt(hex, 16)),
    )
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

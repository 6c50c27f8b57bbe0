import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitMarkdown } from '../../src/lib/markdown/split-markdown.ts';
import {
  slackFits,
  toSlackMarkdown,
  toSlackMessage,
  toSlackText,
} from '../../src/channels/slack/from-markdown.ts';

const joiner = '\u2060';

test('H2 Slack gets one markdown block, and mrkdwn where blocks are not shown', () => {
  const { text, blocks } = toSlackMessage(
    '# T\n\n**b** *i* ~~s~~ `c` [l](https://x.example/a)\n\n- one\n- two\n\n> q',
  );
  assert.deepEqual(blocks, [
    {
      type: 'markdown',
      text: '# T\n\n**b** *i* ~~s~~ `c` [l](https://x.example/a)\n\n- one\n- two\n\n> q',
    },
  ]);
  assert.equal(text, '*T*\n\n*b* _i_ ~s~ `c` <https://x.example/a|l>\n\n• one\n• two\n\n> q');
});

test('H2 Slack gets tables and code with its language', () => {
  const markdown = '| a | b |\n| --- | --: |\n| 1 | 2 |\n\n```ts\nconst x = 1;\n```';
  assert.equal(toSlackMarkdown(markdown), markdown);
  assert.equal(toSlackText(markdown), '```\na | b\n--+--\n1 | 2\n```\n\n```\nconst x = 1;\n```');
});

test('H2 no mention that a model writes reaches Slack whole, in text, in code or behind escapes', () => {
  for (const mention of [
    '<!channel>',
    '<!here>',
    '<@U012AB3CD>',
    '<!subteam^S1|@all>',
    '<#C1>',
    '@channel',
    '@here',
    '@everyone',
  ]) {
    const broken = mention.replace(/^[<@]/, `$&${joiner}`);
    for (const markdown of [
      mention,
      `**${mention}**`,
      `\`${mention}\``,
      `\`\`\`\n${mention}\n\`\`\``,
      mention.replace('<', '&lt;'),
      mention.replace('<', '\\<'),
    ]) {
      const { text, blocks } = toSlackMessage(markdown);
      for (const form of [undo(text), undo(blocks[0]?.text ?? '')]) {
        assert.ok(!form.includes(mention) && form.includes(broken), `${markdown} became ${form}`);
      }
    }
  }
  assert.equal(toSlackMarkdown('mail me@here.example'), 'mail [me@here.example](mailto:me@here.example)');
  assert.equal(toSlackMarkdown('`<!DOCTYPE html>`'), '`<!DOCTYPE html>`');
});

test('H2 an image is a link on Slack, and only http, https and mailto links are live', () => {
  assert.equal(toSlackMarkdown('![cat](https://x.example/c.png)'), '[cat](https://x.example/c.png)');
  assert.equal(toSlackText('![cat](https://x.example/c.png)'), '<https://x.example/c.png|cat>');
  assert.equal(
    toSlackText('[a](javascript:alert(1)) <slack://open>'),
    'a (javascript:alert(1)) slack://open',
  );
  assert.equal(
    toSlackText('[a|b>](https://x.example/?q=<b>|c)'),
    '<https://x.example/?q=%3Cb%3E%7Cc|a|b&gt;>',
  );
});

test('H2 a Slack message is as long as a markdown block may be', () => {
  assert.equal(slackFits('x'.repeat(12_000)), true);
  assert.equal(slackFits('x'.repeat(12_001)), false);
  assert.equal(slackFits('*\\_*'.repeat(2500)), false, 'escapes count, as they do in the block');
  assert.equal(slackFits('&'.repeat(2401)), false, 'each takes five characters in mrkdwn');
  const pieces = splitMarkdown('one two three. '.repeat(20_000 / 15), slackFits);
  assert.equal(pieces.length, 2);
  for (const piece of pieces) {
    const { text, blocks } = toSlackMessage(piece);
    assert.ok(text.length <= 12_000 && (blocks[0]?.text.length ?? Infinity) <= 12_000 && text.trim() !== '');
  }
});

test('H2 Slack reads marks next to letters of any script, without character references', () => {
  for (const [markdown, written] of [
    ['**「重要」**です', '「**重要**」です'],
    ['これは**「重要」**です', 'これは「**重要**」です'],
    ['**粗体：**后面', '**粗体**：后面'],
    ['*(note)*text', '(*note*)text'],
    ['これは*重要*です', 'これは*重要*です'],
    ['un*frigging*believable', 'un*frigging*believable'],
    ['2*3*4', '2\\*3\\*4'],
    ['👍🏽*ok* too', '👍🏽*ok* too'],
    ['**[l](https://x.example/)**です', '[**l**](https://x.example/)です'],
    ['~~「削除」~~です', '「~~削除~~」です'],
    ['a **b***c*d', 'a **b***c*d'],
  ] as const) {
    assert.equal(toSlackMarkdown(markdown), written);
  }
});

/** As a reader that undoes every escape it knows. */
function undo(text: string): string {
  return text
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseMarkdown } from '../../src/lib/markdown/parse-markdown.ts';
import { splitMarkdown } from '../../src/lib/markdown/split-markdown.ts';
import { telegramFits, toTelegramHtml, toTelegramText } from '../../src/channels/telegram/from-markdown.ts';
import { formatText } from '../servers/telegram/format-text.ts';
import { parseHtml } from '../servers/telegram/parse-html.ts';
import { markdownSource, numRuns } from './markdown-source.ts';

const never = ['mention', 'text_mention', 'custom_emoji', 'date_time', 'spoiler', 'underline'];

test('H2 all HTML for Telegram parses by its rules and shows what the plain form says', () => {
  fc.assert(
    fc.property(markdownSource, (source) => {
      const [html, plain] = [parseHtml(toTelegramHtml(source)).text, toTelegramText(source)];
      assert.equal(html.replaceAll('\u2060', ''), plain.replaceAll('\u2060', ''));
    }),
    { numRuns },
  );
});

test('S6 whatever is written, only http and https links are live on Telegram and nobody is mentioned', () => {
  const source = fc
    .tuple(
      markdownSource,
      fc.constantFrom(
        '',
        '@alice_b',
        '@**alice_b**',
        '**x**@alice_b',
        '`@`alice_b',
        '@\\_alice',
        '@alice_b/x',
        '[@alice_b/x](https://a.b/)',
        '@alice_b/**x**',
      ),
    )
    .map((parts) => parts.join(' '));
  fc.assert(
    fc.property(source, (source) => {
      if (toTelegramText(source).trim() === '' || !telegramFits(source)) return;
      for (const entity of formatText(toTelegramHtml(source), 'HTML').entities) {
        if (entity.type === 'text_link') assert.match(entity.url ?? '', /^https?:\/\//);
        assert.ok(!never.includes(entity.type), entity.type);
      }
    }),
    { numRuns },
  );
});

test('H2 a long answer becomes messages that Telegram takes', () => {
  fc.assert(
    fc.property(
      fc.array(markdownSource, { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 1, max: 8 }),
      (some, times) => {
        const source = `${some.join('\n\n')}\n\n`.repeat(times);
        for (const piece of splitMarkdown(source, telegramFits)) {
          assert.ok(telegramFits(parseMarkdown(piece)));
          const { text } = parseHtml(toTelegramHtml(piece));
          assert.ok(text.length <= 4096 && text.trim() !== '');
        }
      },
    ),
    { numRuns: Math.ceil(numRuns / 10) },
  );
});

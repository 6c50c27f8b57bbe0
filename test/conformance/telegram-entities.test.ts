import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BotApiError } from '../servers/telegram/bot-api-error.ts';
import { detectEntities } from '../servers/telegram/detect-entities.ts';
import type { Entity } from '../servers/telegram/entity.ts';
import { parseHtml } from '../servers/telegram/parse-html.ts';

const corpora = process.env['SKILLET_CORPORA'] ?? join(import.meta.dirname, '../../../shared/corpora');
const file = join(corpora, 'tdlib-entity-cases.json');
const skip = existsSync(file) ? false : `no corpus at ${file}`;

type HtmlCase = Readonly<{
  input: string;
  error?: string;
  text?: string;
  entities?: readonly Readonly<{ type: string | null; offset: number; length: number; arg?: string }>[];
}>;
type Cases = Readonly<{
  html: readonly HtmlCase[];
  mention: readonly Readonly<{ input: string; expected: readonly string[] }>[];
  bot_command: readonly Readonly<{ input: string; expected: readonly string[] }>[];
}>;

test('H9 the Bot API server parses HTML with the platform’s own results and errors', { skip }, () => {
  const { html } = JSON.parse(readFileSync(file, 'utf8')) as Cases;
  assert.ok(html.length > 40);
  for (const { input, error, text, entities } of html) {
    if (error !== undefined) {
      assert.equal(errorOf(input), `Bad Request: can't parse entities: ${error}`, input);
      continue;
    }
    const parsed = parseHtml(input);
    assert.equal(parsed.text, text, input);
    // The corpus could not keep the kind of a date entity.
    const known = (entities ?? []).filter(({ type }) => type !== null);
    const ours = parsed.entities.filter(({ type }) => type !== 'date_time');
    assert.deepEqual(ours.map(inCorpusForm), known.map(withoutQuotedArgument), input);
  }
});

for (const [name, type] of [
  ['mention', 'mention'],
  ['bot_command', 'bot_command'],
] as const) {
  test(`H9 the Bot API server finds ${type} entities where the platform does`, { skip }, () => {
    const cases = (JSON.parse(readFileSync(file, 'utf8')) as Cases)[name];
    for (const { input, expected } of cases) {
      const found = detectEntities(input).filter((entity) => entity.type === type);
      assert.deepEqual(
        found.map(({ offset, length }) => input.slice(offset, offset + length)),
        expected,
        input,
      );
    }
  });
}

function errorOf(input: string): string {
  try {
    return `no error but ${JSON.stringify(parseHtml(input))}`;
  } catch (error) {
    if (error instanceof BotApiError) return error.message;
    throw error;
  }
}

const corpusNames: Readonly<Partial<Record<Entity['type'], string>>> = {
  bold: 'Bold',
  italic: 'Italic',
  underline: 'Underline',
  strikethrough: 'Strikethrough',
  spoiler: 'Spoiler',
  blockquote: 'BlockQuote',
  expandable_blockquote: 'ExpandableBlockQuote',
  code: 'Code',
  text_link: 'TextUrl',
  custom_emoji: 'CustomEmoji',
};

function inCorpusForm({ type, offset, length, language, url, custom_emoji_id: emoji }: Entity): object {
  const name = type === 'pre' ? (language === undefined ? 'Pre' : 'PreCode') : corpusNames[type];
  const arg = language ?? url ?? emoji;
  return { type: name, offset, length, ...(arg === undefined ? {} : { arg }) };
}

/** A custom emoji's argument stands in the corpus as the expression that makes it. */
function withoutQuotedArgument(entity: NonNullable<HtmlCase['entities']>[number]): object {
  const { arg, ...rest } = entity;
  const number = arg === undefined ? undefined : /int64>\((\d+)\)/.exec(arg)?.[1];
  return arg === undefined ? rest : { ...rest, arg: number ?? arg };
}

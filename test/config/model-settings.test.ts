import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costOf } from '../../src/limits/costs.ts';
import type { Config } from '../../src/config/complete-config.ts';
import { parseConfig } from '../../src/config/parse-config.ts';

function parse(toml: string) {
  return parseConfig(toml, { env: {}, cwd: '/w', home: '/h' });
}

function configOf(toml: string): Config {
  const parsed = parse(toml);
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return parsed.config;
}

const on = (model: string, lines: string): string => `[models.default]\nmodel = "${model}"\n${lines}\n`;
const chat = (lines: string): string => `[models.default]\napi = "openai"\n${lines}\n`;
const local = on('llama', 'base_url = "http://127.0.0.1:11434"');

const refused: readonly (readonly [string, number, RegExp])[] = [
  [on('claude-sonnet-5-5', 'thinking = "off"'), 3, /refuses that: write "adaptive" or "between_tools"/],
  ['[models.sonnet]\nthinking = 4096\n', 2, /claude-sonnet-5-5 refuses that/],
  [on('claude-opus-5-5', 'thinking = "off"'), 3, /write "adaptive", or remove the line/],
  [on('claude-opus-5-5', 'thinking = "between_tools"'), 3, /write "adaptive", or remove the line/],
  [on('claude-haiku-5-5', 'thinking = 2048'), 3, /write "adaptive" or "off"/],
  [on('anthropic/claude-sonnet-5.5', 'thinking = "off"'), 3, /"between_tools"/],
  [on('claude-sonnet-5-5', 'thinking = "between_tools"\neffort = "max"'), 4, /"high" or less/],
  [on('claude-opus-4-5-20251101', 'effort = "xhigh"'), 3, /"low", "medium", "high"/],
  [on('claude-sonnet-4-5', 'effort = "low"'), 3, /remove the line/],
  [on('m', 'base_url = "http://127.0.0.1:11434/v1"'), 3, /write "http:\/\/127\.0\.0\.1:11434"/],
  [on('m', 'base_url = "http://127.0.0.1:8080/api/v1/"'), 3, /write "http:\/\/127\.0\.0\.1:8080\/api"/],
  [on('m', 'base_url = "https://api.openai.com/v1"'), 3, /does not speak the Anthropic Messages API/],
  [
    on('m', 'base_url = "https://generativelanguage.googleapis.com/v1beta/openai/"'),
    3,
    /write api = "openai" and/,
  ],
  [
    chat('model = "m"\nbase_url = "https://api.openai.com/v1/chat/completions"'),
    4,
    /write "https:\/\/api\.openai\.com\/v1"/,
  ],
  [chat('model = "m"\nthinking = "adaptive"'), 4, /only "off" has a meaning/],
  [chat('model = "m"\nregion = "eu"'), 4, /that is for api = "bedrock"/],
  [chat('api_key = "k"'), 1, /model is missing: name the model/],
  ['[models.default]\napi = "bedrock"\nmodel = "m"\nproject = "p"\n', 4, /that is for api = "vertex"/],
  ['[models.default]\napi = "vertex"\nmodel = "m"\napi_key = "k"\n', 4, /application default credentials/],
  [
    '[models.default]\napi = "bedrock"\nmodel = "anthropic.claude-opus-5-5-v1:0"\nthinking = "off"\n',
    4,
    /"adaptive"/,
  ],
  ['[models.default]\napi = "gemini"\nmodel = "m"\n', 2, /"openai"/],
  [`${local}[limits]\nusd_per_day = 5\n`, 5, /price_in and price_out under \[models\.default\]/],
  [`${local}[limits.global]\nusd_per_day = 5\n`, 5, /without a price/],
  ['[models]\nmine = "gpt-9"\n[limits.chat]\nusd_per_day = 5\n', 4, /\[models\.mine\]/],
];
for (const [toml, line, message] of refused) {
  test(`M14 a config problem: ${toml.trim().replaceAll('\n', ' · ')}`, () => {
    const parsed = parse(toml);
    assert.ok(!parsed.ok);
    assert.equal(parsed.problems.length, 1);
    assert.equal(parsed.problems[0]?.line, line);
    assert.match(parsed.problems[0]?.message ?? '', message);
  });
}

const taken: readonly string[] = [
  on('claude-sonnet-5-5', 'thinking = "between_tools"\neffort = "high"'),
  on('claude-haiku-5-5', 'thinking = "off"'),
  on('claude-sonnet-4-5-20250929', 'thinking = 4096'),
  on('claude-sonnet-6', 'thinking = "off"\neffort = "max"'),
  on('llama', 'thinking = "off"\nbase_url = "http://127.0.0.1:11434/v1beta"'),
  local,
  `${local}price_in = 0\nprice_out = 0\n[limits]\nusd_per_day = 5\n`,
  on('claude-opus-5-5', '[limits]\nusd_per_day = 5'),
  chat('model = "gpt-5.6-terra"\nthinking = "off"\n[limits]\nusd_per_day = 5'),
  chat('model = "m"\nbase_url = "http://127.0.0.1:11434/v1"\neffort = "max"'),
  '[models.default]\napi = "bedrock"\nmodel = "global.anthropic.claude-sonnet-5-5-v1:0"\nregion = "eu-central-1"\nthinking = "between_tools"\n',
  '[models.default]\napi = "vertex"\nmodel = "claude-sonnet-5-5@20261001"\nregion = "global"\nproject = "p"\n',
];
for (const toml of taken) {
  test(`M14 no problem: ${toml.trim().replaceAll('\n', ' · ')}`, () => void configOf(toml));
}

/** Input, output, cache read: https://platform.claude.com/docs/en/about-claude/pricing, November 2026. */
const listed = {
  'claude-fable-5-2': [8, 40, 0.2],
  'claude-fable-5-1': [10, 50, 0.25],
  'claude-mythos-5-1': [10, 50, 0.25],
  'claude-mythos-5': [10, 50, 1],
  'claude-opus-5': [5, 25, 0.5],
  'claude-opus-4-5-20251101': [5, 25, 0.5],
  'claude-opus-4-1-20250805': [15, 75, 1.5],
  'claude-opus-4-20250514': [15, 75, 1.5],
  'claude-sonnet-4-6': [3, 15, 0.3],
  'claude-sonnet-4-5-20250929': [3, 15, 0.3],
  'claude-sonnet-4-20250514': [3, 15, 0.3],
  'claude-haiku-4-5-20251001': [1, 5, 0.1],
} as const;

const million = { input: 1e6, output: 1e6, cacheRead: 1e6, cacheWrite: 1e6 };
const costs: readonly (readonly [string, string, number | undefined])[] = [
  ['', 'sonnet', 2 + 10 + 0.1 + 2.5],
  ['', 'opus', 4 + 20 + 0.2 + 5],
  ['', 'haiku', 0.1 + 0.5 + 0.01 + 0.125],
  ['[models.haiku]\ncontext_window = 500000\n', 'haiku', 5 * (0.1 + 0.5 + 0.01 + 0.125)],
  ['[models.own]\nmodel = "m"\nprice_in = 1\nprice_out = 3\n', 'own', 1 + 3 + 0.1 + 1.25],
  ['[models.own]\nmodel = "m"\nprice_in = 1\nprice_out = 3\nprice_cache_read = 1\n', 'own', 1 + 3 + 1 + 1.25],
  ['[models.own]\nmodel = "m"\n', 'own', undefined],
  ...Object.entries(listed).map(
    ([id, [input, output, read]]) =>
      [`[models.own]\nmodel = "${id}"\n`, 'own', input * 2.25 + output + read] as const,
  ),
];
for (const [toml, alias, usd] of costs) {
  test(`M14 a million tokens of each kind of ${alias} cost ${String(usd)} ${toml.trim()}`, () => {
    const cost = costOf(configOf(toml), alias, million);
    if (usd === undefined) assert.equal(cost, undefined);
    else assert.ok(Math.abs((cost ?? 0) - usd) < 1e-9, String(cost));
  });
}

test('M17 G4 list prices of other models are known, by any name that servers have for them', () => {
  const cost = (model: string, more = ''): number | undefined =>
    costOf(configOf(chat(`model = "${model}"${more}`)), 'default', {
      input: 1_000_000,
      output: 1_000_000,
      cacheRead: 1_000_000,
      cacheWrite: 0,
    });
  assert.equal(cost('gpt-5.4'), 2.5 + 15 + 0.25);
  assert.equal(cost('openai/gpt-5.4-2026-03-05'), 2.5 + 15 + 0.25);
  assert.equal(cost('gpt-5.4', '\ncontext_window = 1000000'), 2 * (2.5 + 15 + 0.25), 'long prompts');
  assert.equal(cost('gpt-5.4', '\nprice_in = 1\nprice_out = 2'), 1 + 2 + 0.1);
  assert.equal(cost('google/gemini-3.5-flash'), 1.5 + 9 + 0.15);
});

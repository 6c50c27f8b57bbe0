import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../../src/config/complete-config.ts';
import { keyPlace } from '../../src/config/model-aliases.ts';
import { resolveModel } from '../../src/core/model.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { equalData } from '../support/equal-data.ts';

function modelsOf(text: string, env: Record<string, string> = {}): Config['models'] {
  const parsed = parseConfig(text, { env });
  assert.ok(parsed.ok);
  return parsed.config.models;
}

function complaintAbout(text: string): string {
  const parsed = parseConfig(text, { env: {} });
  return parsed.ok ? 'none' : parsed.problems.map(({ message }) => message).join('\n');
}

test('M1 haiku, sonnet and opus exist without configuration, and default only with a key or a table', () => {
  const { aliases } = modelsOf('');
  assert.deepEqual(aliases, {
    haiku: { model: 'claude-haiku-5-5' },
    sonnet: { model: 'claude-sonnet-5-5' },
    opus: { model: 'claude-opus-5-5' },
  });
  assert.equal(resolveModel({ aliases }, 'default'), undefined, 'then the offline model answers');
  const withKey = modelsOf('', { ANTHROPIC_API_KEY: 'k' }).aliases;
  equalData(withKey['default'], { model: 'claude-sonnet-5-5', apiKey: 'k' });
  equalData(withKey['haiku'], { model: 'claude-haiku-5-5', apiKey: 'k' });
  assert.deepEqual(modelsOf('', { ANTHROPIC_API_KEY: '' }).aliases['default'], undefined);
});

test('M1 an alias takes endpoint and key from default; with an endpoint of its own it takes no key', () => {
  const { aliases } = modelsOf(
    `[models]
quick = "q"
[models.default]
model = "m"
base_url = "https://gate.example"
api_key = "secret"
max_tokens = 9
[models.local]
model = "l"
base_url = "http://127.0.0.1:1"
[models.other]
model = "o"
api_key = "mine"`,
    { ANTHROPIC_API_KEY: 'never' },
  );
  const gate = { baseUrl: 'https://gate.example', apiKey: 'secret' };
  assert.deepEqual(aliases['quick'], { ...gate, model: 'q' });
  assert.deepEqual(aliases['haiku'], { ...gate, model: 'claude-haiku-5-5' });
  assert.deepEqual(aliases['local'], { model: 'l', baseUrl: 'http://127.0.0.1:1' });
  assert.deepEqual(aliases['other'], { ...gate, apiKey: 'mine', model: 'o' });
});

test('M1 the key of the environment is for Anthropic alone, never for another endpoint', () => {
  const env = { ANTHROPIC_API_KEY: 'k' };
  const { aliases } = modelsOf('[models.default]\nmodel = "qwen"\nbase_url = "http://127.0.0.1:1"', env);
  assert.ok(Object.values(aliases).every(({ apiKey }) => apiKey === undefined));
  assert.equal(modelsOf('[models.default]\nmodel = "m"', env).aliases['default']?.apiKey, 'k');
});

test('M17 M1 an alias of another kind takes neither endpoint nor key, but the key of its own kind', () => {
  const chat = '[models.default]\napi = "openai"\nmodel = "gpt-5.4"\n';
  const both = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' };
  const { aliases } = modelsOf(
    `${chat}[models.small]\nmodel = "gpt-5.4-mini"\n[models.cloud]\napi = "bedrock"\nmodel = "b"\n`,
    both,
  );
  assert.deepEqual(aliases['default'], { api: 'openai', model: 'gpt-5.4', apiKey: 'o' });
  assert.deepEqual(aliases['small'], { api: 'openai', model: 'gpt-5.4-mini', apiKey: 'o' });
  assert.deepEqual(aliases['cloud'], { api: 'bedrock', model: 'b' });
  assert.deepEqual(aliases['haiku'], { api: 'anthropic', model: 'claude-haiku-5-5', apiKey: 'a' });
  const alone = modelsOf(chat, { OPENAI_API_KEY: 'o' });
  assert.deepEqual(Object.keys(alone.aliases), ['default'], 'no Claude is asked for at OpenAI');
  const beside = modelsOf('[models.gpt]\napi = "openai"\nmodel = "gpt-5.4"\n', both).aliases;
  assert.equal(beside['default']?.apiKey, 'a');
  assert.equal(beside['gpt']?.apiKey, 'o');
  const gate = modelsOf(
    '[models.gpt]\napi = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:1/v1"\n',
    both,
  ).aliases;
  assert.equal(gate['gpt']?.apiKey, undefined);
  const parsed = parseConfig(chat, { env: both });
  assert.ok(parsed.ok);
  assert.equal(keyPlace(parsed.config, 'default'), 'OPENAI_API_KEY in the environment of the bot');
});

test('U2 a name is an alias or ALIAS/model-id on that endpoint, anything else stands for nothing', () => {
  const models = modelsOf(`[models.default]
model = "m"
[models.local]
model = "l"
base_url = "http://127.0.0.1:1"
context_window = 8000`);
  equalData(resolveModel(models, 'local/org/big'), {
    model: 'org/big',
    baseUrl: 'http://127.0.0.1:1',
  });
  assert.equal(resolveModel(models, 'default')?.model, 'm');
  for (const name of ['', 'nope', 'nope/x', 'local/', '/x', 'toString', 'constructor', '__proto__/x']) {
    assert.equal(resolveModel(models, name), undefined, name);
  }
});

test('G2 a fallback or main model that names no alias is told with the nearest one', () => {
  assert.match(complaintAbout('[models]\nfallback = "hiku"'), /write haiku, or add it there/);
  assert.match(complaintAbout('[agent]\nmodel = "sonet"'), /write sonnet, or add it there/);
  assert.match(complaintAbout('[models.x]\nmax_tokens = 5'), /models\.x\.model is missing: name the model/);
  assert.equal(complaintAbout('[agent]\nmodel = "default/other"\n[models]\nfallback = "opus"'), 'none');
});

test('M18 fallbacks are a name or a list of names; loops, repeated and unknown ones and other causes are told', () => {
  const models = (lines: string) => `[agent]\nmodel = "sonnet"\n[models]\n${lines}`;
  const parsed = parseConfig(models('fallback = "opus"'), { env: {} });
  assert.ok(parsed.ok);
  assert.deepEqual(parsed.config.models.fallback, ['opus']);
  assert.equal(
    complaintAbout(models('fallback = ["sonnet", "haiku"]\nfallback_on = ["busy", "refusal"]')),
    'none',
  );
  assert.match(complaintAbout(models('fallback = ["haiku", "opsu"]')), /write opus, or add it there/);
  assert.match(
    complaintAbout(models('fallback = ["haiku", "opus", "haiku"]')),
    /haiku is named twice: remove one/,
  );
  assert.match(
    complaintAbout(models('fallback = ["sonnet"]')),
    /it would fall back to itself: name another alias/,
  );
  assert.match(complaintAbout(models('fallback_on = ["rain"]')), /models\.fallback_on.*busy/s);
  assert.match(complaintAbout(models('fallback_on = "busy"')), /models\.fallback_on/);
});

test('M14 the place of a key is where it is written: the alias, the default it takes it from, or a variable', () => {
  const place = (text: string, alias: string, env: Record<string, string> = {}): string => {
    const parsed = parseConfig(text, { env });
    assert.ok(parsed.ok);
    return keyPlace(parsed.config, alias);
  };
  const own = '[models.default]\nmodel = "m"\napi_key = "secret-one"\n';
  assert.equal(place(own, 'default'), '[models.default] api_key');
  assert.equal(place(own, 'haiku'), '[models.default] api_key');
  assert.equal(place(own, 'haiku/claude-haiku-9'), '[models.default] api_key');
  const fast = '[models.fast]\nmodel = "f"\napi_key = "secret-two"\n';
  assert.equal(place(own + fast, 'fast'), '[models.fast] api_key');
  const away = '[models.away]\nmodel = "a"\nbase_url = "https://gate.example"\n';
  assert.equal(place(away, 'away'), '[models.away] api_key');
  const env = { ANTHROPIC_API_KEY: 'k', GATE_KEY: 'g' };
  for (const alias of ['default', 'sonnet'])
    assert.equal(place('', alias, env), 'ANTHROPIC_API_KEY in the environment of the bot');
  const named = `${away}api_key = "$GATE_KEY"\n`;
  assert.equal(place(named, 'away', env), 'GATE_KEY in the environment of the bot');
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { Validator, type Schema } from '@cfworker/json-schema';
import { parse } from 'smol-toml';
import { schemaLine, configSchemaFile } from '../../src/cli/config-schema-file.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { blocksOf, documents, root } from '../support/documents.ts';
import { openCliHome } from '../support/run-cli.ts';

const schema = JSON.parse(readFileSync(configSchemaFile, 'utf8')) as Schema;
const validator = new Validator(schema, '7', false);
const example = readFileSync(path.join(root, 'config.example.toml'), 'utf8');

/** What an editor would mark in this text. */
function marked(toml: string): readonly string[] {
  const data: unknown = JSON.parse(JSON.stringify(parse(toml)));
  return validator
    .validate(data)
    .errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
}

test('G1 editors mark nothing in config.example.toml, with every example switched on, too', () => {
  assert.deepEqual(marked(example), []);
  assert.deepEqual(marked(example.replace(/^#(?=\[|[A-Za-z_]+ = )/gm, '')), []);
});

test('G1 editors mark nothing in the configs that documents show', () => {
  const env = new Proxy({}, { get: () => 'a-value-0123456789', has: () => true });
  const shown = documents().flatMap(({ text }) =>
    blocksOf(text).flatMap((block) => (/^\[[a-z[]/.test(block.text) ? [block.text] : [])),
  );
  const valid = shown.filter((toml) => !/^\[(?:\[(?:test|case)\]|databases)\]/m.test(toml));
  assert.ok(valid.length > 20, String(valid.length));
  for (const toml of valid) {
    assert.deepEqual(marked(toml), [], toml);
    assert.ok(parseConfig(toml, { env }).ok || /store|\$/.test(toml), toml);
  }
});

test('G2 editors mark keys and values that the start refuses', () => {
  for (const wrong of [
    '[bot]\nnmae = "x"',
    '[telgram]\ntoken = "x"',
    '[access]\nusers = "telegram:42"',
    '[access]\ndm = "everybody"',
    '[access.chats."slack:C1"]\ndms = "open"',
    '[models.default]\nmodle = "m"',
    '[models]\nhaiku = 5',
    '[skills.dice]\nallow_user = ["telegram:42"]',
    '[skills.dice]\nKEY = 5',
    '[bot]\nretention_days = 0',
    '[[policy.rules]]\nactoin = "deny"',
    '[log]\nlevel = "loud"',
    '[slack]\ncommand = "skill"',
  ]) {
    assert.notDeepEqual(marked(wrong), [], wrong);
    assert.ok(!parseConfig(wrong, { env: {} }).ok, wrong);
  }
  for (const right of [
    '[models]\nhaiku = "claude-haiku-5-5"',
    '[skills.dice]\nAPI_KEY = "$API_KEY"',
    '[log]\nlevel = "$LEVEL"',
    '[slack]\ncommand = "$COMMAND"',
    '[access]\ngroup_users = ["*"]',
  ]) {
    assert.deepEqual(marked(right), [], right);
    const parsed = parseConfig(right, { env: { LEVEL: 'warn', COMMAND: '/ask', API_KEY: 'a-key' } });
    assert.ok(parsed.ok, right);
  }
});

test('G1 the schema has the meaning of each key, and its default or an example', () => {
  const keys = readFileSync(path.join(root, 'docs/reference/config.md'), 'utf8');
  const text = JSON.stringify(schema);
  const meanings = [...keys.matchAll(/^\| `[^|]*\|.*\| ([^|]+) \|$/gm)].map(([, meaning = '']) => meaning);
  assert.ok(meanings.length > 130);
  assert.deepEqual(
    meanings.filter((meaning) => !text.includes(JSON.stringify(meaning.replaceAll('\\|', '|')).slice(1, -1))),
    [],
  );
  const { properties } = schema as { properties: Record<string, { properties: Record<string, unknown> }> };
  const { retention_days: days, timezone } = properties['bot']?.properties ?? {};
  const of = (description: string, more: object) => ({ description, ...more });
  assert.deepEqual(
    days,
    of('How long conversations and attachments are kept.', { default: 90, type: 'integer', minimum: 1 }),
  );
  assert.deepEqual((timezone as { examples: unknown }).examples, ['Europe/Zurich']);
});

test('L1 config schema prints it, and the first line of the example and of what init writes leads to it', async (t) => {
  const home = await openCliHome(t);
  const { stdout } = await home.run(['config', 'schema']);
  assert.equal(stdout, readFileSync(configSchemaFile, 'utf8'));
  const [first] = example.split('\n');
  assert.equal(first, '#:schema ./docs/reference/config.schema.json');
  assert.ok(example.startsWith(schemaLine(path.join(root, 'config.toml'))));
  assert.equal((await home.run(['init', '--yes'])).code, 0);
  const written = readFileSync(path.join(home.folder, 'config.toml'), 'utf8');
  const place = new URL(written.split('\n')[0]?.replace('#:schema ', '') ?? '');
  assert.equal(readFileSync(place, 'utf8'), stdout);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineTool, type ToolOptions } from '../../../src/features/plugins/define-tool.ts';
import type { JsonSchema } from '../../../src/features/plugins/from-json-schema.ts';
import type { Tool } from '../../../src/core/tool.ts';
import { callOneTool } from '../../support/call-one-tool.ts';
import { pluginContext } from '../../support/plugin-context.ts';

const input = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'What to look for.', minLength: 2 },
    most: { type: 'integer', default: 5, minimum: 1, maximum: 9 },
    tags: { type: 'array', items: { enum: ['a', 'b'] }, uniqueItems: true },
    note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    when: { type: 'string', format: 'date' },
  },
  required: ['query'],
  additionalProperties: false,
} as const;

function bound(options: Partial<ToolOptions<JsonSchema, JsonSchema>> = {}): Tool {
  const plain = { name: 'find_it', description: 'Finds it.', input, run: (read: object) => read };
  return defineTool({ ...plain, ...options }).bind(async () => ({
    context: pluginContext(),
    over: new AbortController().signal,
    close: async () => undefined,
  }));
}

test('X2 T1 a plain JSON Schema is shown to the model as it is, and calls are checked by all of it', () => {
  const tool = bound();
  const { properties } = tool.inputSchema as { properties: Record<string, object> };
  for (const [name, schema] of Object.entries(input.properties))
    if (!['tags', 'note', 'when'].includes(name)) assert.deepEqual(properties[name], schema, name);
  for (const right of [
    { query: 'ab' },
    { query: 'ab', most: 9, tags: ['a', 'b'], note: null, when: '2027-01-31' },
  ])
    assert.equal(tool.check(right), undefined, JSON.stringify(right));
  const wrong = [
    ...[{}, { query: 'a' }, { query: 1 }, { query: 'ab', most: 10 }, { query: 'ab', most: 1.5 }, 'ab'],
    ...[{ tags: ['c'] }, { tags: ['a', 'a'] }, { note: 1 }, { when: 'soon' }, { other: 1 }].map((more) => ({
      query: 'ab',
      ...more,
    })),
  ];
  for (const each of wrong) assert.notEqual(tool.check(each), undefined, JSON.stringify(each));
});

test('X2 run gets the checked input with its defaults, and output is held against its schema', async () => {
  const output = {
    type: 'object',
    properties: { most: { type: 'integer', maximum: 5 } },
    required: ['most'],
  };
  const answer = async (more: object): Promise<string> =>
    JSON.stringify(await callOneTool(bound({ output }), { query: 'ab', ...more }));
  assert.match(await answer({}), /\\"most\\": 5/);
  assert.match(await answer({ most: 6 }), /its own output schema refuses/);
});

test('X2 X6 what of a JSON Schema would not be checked is refused, with its place', () => {
  const field = (one: object) => ({ type: 'object', properties: { a: one } });
  const refused: readonly (readonly [object, RegExp])[] = [
    [
      { ...input, required: ['query', 'gone'] },
      /input: required names gone, no property\. Write that in zod/,
    ],
    [{ ...input, dependentRequired: { query: ['most'] } }, /input: dependentRequired would not be checked/],
    [{ ...input, props: {} }, /input: props would not be checked/],
    [
      { ...input, additionalProperties: { type: 'string' } },
      /input\.additionalProperties: write true or false/,
    ],
    [field({ type: 'string', nullable: true }), /input\.a: nullable would not be checked/],
    [field({ type: 'string', format: 'phone' }), /input\.a: the format phone would not be checked/],
    [field({ description: 'x' }), /input\.a: type is missing/],
    [field({ type: 'array', items: { $ref: '#/a' } }), /input\.a\.items: \$ref would not be checked/],
    [field({ type: 'strng' }), /Unsupported type: strng/],
    [{ type: 'array', items: { type: 'string' } }, /JSON Schema of type 'object'/],
    [{ properties: {} }, /JSON Schema of type 'object'/],
  ];
  for (const [schema, why] of refused)
    assert.throws(() => bound({ input: schema as JsonSchema }), why, JSON.stringify(schema));
  assert.throws(() => bound({ output: field({ not: {} }) }), /output\.a: not would not be checked/);
});

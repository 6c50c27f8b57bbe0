import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonSchemaCheck } from '../../src/lib/json/json-schema-check.ts';
import { processorMs } from '../support/machine-time.ts';

type Schema = Readonly<Record<string, unknown>>;

const fits = (schema: Schema, data: unknown): boolean => jsonSchemaCheck(schema)(data) === undefined;
/** Whether `{ a }` fits where this is said of `a`. */
const takes = (a: Schema, value: unknown): boolean => fits({ properties: { a } }, { a: value });

test('C5 what is required is required, whatever the schema leaves unsaid', () => {
  const check = jsonSchemaCheck({ required: ['a'], properties: { b: { type: 'integer' } } });
  assert.notEqual(check({}), undefined);
  assert.notEqual(check({ a: 1, b: 'x' }), undefined);
  assert.notEqual(check('text'), undefined);
  assert.equal(check({ a: null, b: 1 }), undefined);
  assert.equal(jsonSchemaCheck({})({ anything: true }), undefined);
  const nested = jsonSchemaCheck({ properties: { in: { required: ['x'] } } });
  assert.notEqual(nested({ in: {} }), undefined);
  const named = jsonSchemaCheck({
    type: 'object',
    properties: { properties: { type: 'string' }, required: { type: 'boolean' } },
  });
  assert.equal(named({ properties: 'a', required: true }), undefined);
});

test('C5 what stands without a type, beside a $ref or beside another keyword holds all the same', () => {
  assert.equal(fits({ required: ['a'], properties: { a: { default: 'x', type: 'string' } } }, {}), false);
  for (const [schema, good, bad] of [
    [{ minLength: 3 }, 'abc', 'ab'],
    [{ pattern: '^a' }, 'ab', 'b'],
    [{ minimum: 3 }, 3, 2],
    [{ minimum: 3, minLength: 2 }, 'ab', 'a'],
    [{ items: { type: 'string' } }, ['a'], [1]],
    [{ maxProperties: 1 }, { x: 1 }, { x: 1, y: 2 }],
    [{ type: ['object', 'null'], required: ['x'] }, null, {}],
    [{ allOf: [{ type: 'string' }, { minLength: 3 }] }, 'abc', 'ab'],
    [{ anyOf: [{ type: 'string' }], oneOf: [{ minLength: 3 }, { maxLength: 5 }] }, 'abcdef', 'abc'],
    [{ oneOf: [{ type: 'number' }], anyOf: [{ minimum: 3 }] }, 3, 2],
  ] as const) {
    assert.equal(takes(schema, good), true, JSON.stringify(schema));
    assert.equal(takes(schema, bad), false, JSON.stringify(schema));
  }
  const $defs = { word: { type: 'string' } };
  for (const more of [{ minLength: 3 }, { anyOf: [{ minLength: 3 }] }, { enum: ['abc', 1] }]) {
    const check = jsonSchemaCheck({ $defs, properties: { a: { $ref: '#/$defs/word', ...more } } });
    assert.deepEqual(
      ['abc', 'ab', 1].map((a) => check({ a }) === undefined),
      [true, false, false],
      JSON.stringify(more),
    );
  }
});

test('C5 X7 what JSON Schema can say is checked', () => {
  for (const [schema, good, bad] of [
    [{ not: { type: 'string' } }, 1, 'a'],
    [{ if: { type: 'string' }, then: { minLength: 2 }, else: { minimum: 2 } }, 2, 'a'],
    [{ dependentRequired: { x: ['y'] } }, { x: 1, y: 1 }, { x: 1 }],
    [{ const: { x: [1] } }, { x: [1] }, { x: [2] }],
    [{ enum: [1, [2]] }, [2], [3]],
    [{ type: 'object', properties: { toString: { type: 'string' } } }, {}, { toString: 1 }],
    [{ allOf: [{ properties: { x: {} } }], unevaluatedProperties: false }, { x: 1 }, { z: 1 }],
  ] as const) {
    assert.equal(takes(schema, good), true, JSON.stringify(schema));
    assert.equal(takes(schema, bad), false, JSON.stringify(schema));
  }
});

test('C5 X7 a schema may refer to itself; old drafts keep their meaning', () => {
  const tree = {
    definitions: { node: { required: ['v'], properties: { v: {}, next: { $ref: '#/definitions/node' } } } },
    properties: { root: { $ref: '#/definitions/node' } },
  };
  assert.equal(fits(tree, { root: { v: 1, next: { v: 2 } } }), true);
  assert.equal(fits(tree, { root: { v: 1, next: { next: { v: 3 } } } }), false);
  assert.match(jsonSchemaCheck(tree)({ root: { v: 1, next: {} } }) ?? '', /^root\.next: .*"v"/);
  const $schema = 'http://json-schema.org/draft-07/schema#';
  const tuple = { $schema, properties: { a: { items: [{ type: 'string' }, { type: 'number' }] } } };
  assert.deepEqual([fits(tuple, { a: ['x', 1] }), fits(tuple, { a: [1, 'x'] })], [true, false]);
});

test('C5 a schema that refers to nothing is refused; data too deep to walk through is wrong', () => {
  for (const $ref of ['https://elsewhere/', '#/$defs/gone'])
    assert.throws(() => jsonSchemaCheck({ properties: { a: { $ref } } }), /does not define/);
  const deep = JSON.parse(`{"a":${'['.repeat(9_000)}${']'.repeat(9_000)}}`) as unknown;
  assert.match(jsonSchemaCheck({})(deep) ?? '', /nested deeper/);
});

test('X7 without patterns a text of any form fits, wherever the pattern stands', () => {
  const without = (schema: Schema) => jsonSchemaCheck(schema, { patterns: false });
  const never = '^(a+)+$';
  const text = { type: 'string', pattern: never, format: 'email', maxLength: 40 };
  const hostile = `${'a'.repeat(35)}!`;
  const check = without({
    properties: { a: { anyOf: [text] }, pattern: { type: 'integer' } },
    patternProperties: { [never]: text },
    propertyNames: { pattern: never },
    additionalProperties: false,
  });
  const took = processorMs(() => assert.equal(check({ a: hostile, [hostile]: hostile }), undefined));
  assert.ok(took < 5_000, `${took} ms`);
  assert.notEqual(check({ a: 'a'.repeat(41) }), undefined);
  assert.notEqual(check({ pattern: 'x' }), undefined, 'a property may be called so');
});

test('C5 S1 a pattern that takes for ever is broken off, and what it was to judge is refused', () => {
  const never = '^(a+)+$';
  const hostile = `${'a'.repeat(60)}!`;
  for (const schema of [
    { properties: { a: { type: 'string', pattern: never } } },
    { properties: { a: { anyOf: [{ type: 'string', pattern: never }, { type: 'number' }] } } },
    { patternProperties: { [never]: { type: 'number' } } },
  ]) {
    const check = jsonSchemaCheck(schema);
    const began = performance.now();
    assert.match(check({ a: hostile, [hostile]: 1 }) ?? '', /could not be checked within/);
    assert.ok(performance.now() - began < 5_000);
    assert.equal(check({ b: 'aaa' }), undefined, 'it goes on judging what can be judged');
  }
});

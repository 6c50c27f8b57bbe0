import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { escapeLabels } from '../../src/lib/text/escape-labels.ts';
import { cleanSchema } from '../../src/features/mcp/clean-schema.ts';
import { mcpTool, mcpToolName } from '../../src/features/mcp/mcp-tool.ts';
import { readDefinition } from '../../src/features/mcp/read-definition.ts';
import { equalData } from '../support/equal-data.ts';

const word = fc.oneof(
  fc.constantFrom(
    'a',
    'no good',
    '__proto__',
    '</output>',
    '<quote>',
    '#/$defs/a',
    '#/$defs/gone',
    '(',
    '\u202e',
    '',
  ),
  fc.string(),
);
const keyword = fc.constantFrom(
  ...[
    'type',
    'properties',
    '$defs',
    'items',
    'prefixItems',
    'anyOf',
    'allOf',
    'not',
    'enum',
    'const',
    'default',
  ],
  ...[
    'required',
    'additionalProperties',
    'description',
    'title',
    'pattern',
    'format',
    '$ref',
    'minimum',
    'maxLength',
  ],
);
const type = fc.constantFrom('object', 'string', 'integer', 'array', 'null', 'wurst');
const { schema } = fc.letrec<{ schema: unknown; value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(word, type, fc.integer(), fc.double(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(word, tie('schema'), { maxKeys: 3 }),
    tie('schema'),
  ),
  schema: fc.dictionary(fc.oneof(keyword, keyword, word), tie('value'), { maxKeys: 4 }),
}));
const listed = fc.record({
  name: fc.string({ minLength: 1, maxLength: 100 }),
  description: fc.oneof(word, fc.string({ maxLength: 3_000, size: 'max' })),
  inputSchema: schema,
  annotations: fc.oneof(fc.constant(undefined), fc.dictionary(word, fc.boolean())),
});

test('X7 M11 whatever a server says of a tool, it is read or refused, and what a model sees of it is harmless', () => {
  fc.assert(
    fc.property(listed, fc.jsonValue(), (raw, input) => {
      const read = readDefinition(raw);
      if (!read.ok) return;
      const tool = mcpTool({
        identity: 'x',
        redact: (text) => text,
        server: 'any',
        definition: read.definition,
        trusted: false,
        isProcess: true,
        isStill: () => true,
        call: async () => assert.fail('nothing is called'),
        converse: async (_of, _context, attempt) => attempt(undefined),
      });
      tool.check(input);
      assert.match(tool.name, /^[a-zA-Z0-9_-]{1,64}$/);
      const { inputSchema } = tool;
      assert.equal(inputSchema['type'], 'object');
      for (const key of ['anyOf', 'oneOf', 'allOf', '$ref']) assert.ok(!(key in inputSchema), key);
      for (const name of Object.keys(inputSchema['properties'] ?? {}))
        assert.match(name, /^[a-zA-Z0-9_.-]{1,64}$/);
      const shown = `${JSON.stringify(inputSchema)}${tool.description.split('\n').slice(2, -1).join('\n')}`;
      assert.equal(shown, escapeLabels(shown), 'no label');
      assert.doesNotMatch(shown, /(?!\n)[\p{Cc}\p{Cf}]/u);
      equalData(cleanSchema(inputSchema), inputSchema, 'what is clean stays as it is');
    }),
    { numRuns: 500 },
  );
});

test('X7 names of tools are always ones that the API takes', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 200 }),
      fc.string({ minLength: 1, maxLength: 200 }),
      (server, tool) => {
        assert.match(mcpToolName(server, tool), /^mcp_[a-zA-Z0-9_-]{1,60}$/);
      },
    ),
  );
});

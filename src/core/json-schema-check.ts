import { z } from 'zod';
import { withinTime } from './within-time.ts';

/** What is wrong with data, in words; nothing where it fits. */
export type SchemaCheck = (data: unknown) => string | undefined;

type Schema = Readonly<Record<string, unknown>>;

/** How long a check may keep everybody waiting. */
const checkMs = 500;

/**
 * Makes a check of data by somebody's JSON Schema of an object. Throws where the schema says what can't be checked (`if`, `not`,
 * a `$ref` to elsewhere, a `const` that is an object): a check that passed over something would let it through. A keyword says
 * its type where `type` does not: `minLength` means a text. `patterns: false` passes over `pattern` and `format` all the same.
 * A check that is not done after half a second, as a pattern can take for ever, is broken off, and the data counts as wrong.
 */
export function jsonSchemaCheck(
  schema: Schema,
  { patterns = true }: Readonly<{ patterns?: boolean }> = {},
): SchemaCheck {
  const complete = completed({ ...schema, type: schema['type'] ?? 'object' }, patterns);
  const type = z.fromJSONSchema(complete as Parameters<typeof z.fromJSONSchema>[0]);
  return (data) => {
    const checked = withinTime(checkMs, () => type.safeParse(data));
    if (checked === undefined) return `this data can't be held against the schema within ${checkMs} ms`;
    const { success, error } = checked.value;
    return success ? undefined : z.prettifyError(error);
  };
}

const types = ['string', 'number', 'boolean', 'null', 'object', 'array'];

/** The type that a keyword speaks of. */
const spokenOf: readonly (readonly [type: string, keywords: readonly string[]])[] = [
  ['string', ['minLength', 'maxLength', 'pattern', 'format']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
  ['object', ['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames']],
  ['object', ['minProperties', 'maxProperties']],
  ['array', ['items', 'prefixItems', 'additionalItems', 'contains', 'minItems', 'maxItems', 'uniqueItems']],
];
/** Each holds beside what else is said, and the converter takes the last of them alone where no type stands beside it. */
const compositions = ['anyOf', 'oneOf', 'allOf'];
const binding = ['type', 'const', 'enum', ...compositions, ...spokenOf.flatMap(([, keywords]) => keywords)];

/** Where the values are data, not schemas. */
const verbatim = new Set(['enum', 'const', 'examples', 'required']);
/** Where the keys are names, not words of JSON Schema. */
const byName = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/** Says what the converter would pass over. */
function completed(node: unknown, patterns: boolean): unknown {
  if (Array.isArray(node)) return node.map((item: unknown) => completed(item, patterns));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref, default: _, ...said } = node as Schema;
  const left = patterns ? said : withoutPatterns(said);
  const rest = Object.fromEntries(
    Object.entries(left).map(([key, value]) => [
      key,
      verbatim.has(key)
        ? value
        : byName.has(key)
          ? mapped(value, (one) => completed(one, patterns))
          : completed(value, patterns),
    ]),
  );
  if ([rest['const'], ...listOf(rest['enum'])].some((value) => typeof value === 'object' && value !== null))
    throw new Error('const and enum are not supported with objects and lists');
  if ($ref === undefined) return withRequired(withType(rest));
  if (!binding.some((key) => key in rest)) return { ...rest, $ref };
  return withRequired(withType({ ...rest, allOf: [...listOf(rest['allOf']), { $ref }] }));
}

function withType(schema: Schema): Schema {
  if (['type', 'const', 'enum'].some((key) => key in schema)) return schema;
  const meant = spokenOf.filter(([, keywords]) => keywords.some((key) => key in schema));
  const [only, ...others] = new Set(meant.map(([type]) => type));
  if (only !== undefined) return { ...schema, type: others.length === 0 ? only : [only, ...others] };
  return compositions.filter((key) => key in schema).length > 1 ? { ...schema, type: types } : schema;
}

/** What is `required` is a property, whether it is described or not. */
function withRequired(schema: Schema): Schema {
  const { required, properties, type } = schema;
  if (![type].flat().includes('object')) return schema;
  const known = typeof properties === 'object' && properties !== null ? properties : {};
  const missing = listOf(required)
    .filter((name) => typeof name === 'string' && !Object.hasOwn(known, name))
    .map((name) => [name, { type: types }] as const);
  return { ...schema, properties: { ...known, ...Object.fromEntries(missing) } };
}

/** Without the names that patterns take, nobody can say which others are too many. */
function withoutPatterns({ pattern, format, patternProperties, ...rest }: Schema): Schema {
  if (patternProperties === undefined) return rest;
  const { additionalProperties: _, ...open } = rest;
  return open;
}

function mapped(value: unknown, change: (one: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, change(schema)]));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

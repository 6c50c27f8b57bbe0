import { z } from 'zod';

export type SchemaCheck = (data: unknown) => string | undefined;

/**
 * Makes a check of a provider's JSON Schema: what is wrong with a value, in words; nothing where it fits. Throws where the
 * schema holds what can't be checked (`$ref` elsewhere, `if`): a check that passes over something would let it through.
 */
export function jsonSchemaCheck(schema: Readonly<Record<string, unknown>>): SchemaCheck {
  const complete = completed({ ...schema, type: schema['type'] ?? 'object' });
  const type = z.fromJSONSchema(complete as Parameters<typeof z.fromJSONSchema>[0]);
  return (data) => {
    const checked = type.safeParse(data);
    return checked.success ? undefined : z.prettifyError(checked.error);
  };
}

const anything = { type: ['string', 'number', 'boolean', 'null', 'object', 'array'] };
/** Where the values are data, not schemas. */
const verbatim = new Set(['enum', 'const', 'default', 'examples', 'required']);

/** Says what the converter would pass over: `properties` mean an object, and what is `required` is a property. */
function completed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((item: unknown) => completed(item));
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema as Readonly<Record<string, unknown>>);
  const whole: Record<string, unknown> = Object.fromEntries(
    entries.map(([key, value]) => [
      key,
      verbatim.has(key) ? value : byName.has(key) ? mapped(value) : completed(value),
    ]),
  );
  const { required, properties, type } = whole;
  const isObject = type === 'object' || (type === undefined && (properties ?? required) !== undefined);
  if (!isObject) return whole;
  const names = Array.isArray(required)
    ? required.filter((name): name is string => typeof name === 'string')
    : [];
  const known = typeof properties === 'object' && properties !== null ? properties : {};
  const missing = names
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => [name, anything] as const);
  return { ...whole, type: 'object', properties: { ...known, ...Object.fromEntries(missing) } };
}

/** Where the keys are names, not words of JSON Schema. */
const byName = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

function mapped(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value as Readonly<Record<string, unknown>>);
  return Object.fromEntries(entries.map(([name, schema]) => [name, completed(schema)]));
}

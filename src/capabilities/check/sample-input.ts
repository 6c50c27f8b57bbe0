import { jsonSchemaCheck } from '../../lib/json/json-schema-check.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Plain data that a JSON Schema of an object takes, made of what it requires; nothing where that is not so simple. Throws for a schema that can't be used. */
export function sampleInput(schema: Schema): Readonly<Record<string, unknown>> | undefined {
  const made = sample(schema, 0);
  if (typeof made !== 'object' || made === null || Array.isArray(made)) return undefined;
  return jsonSchemaCheck(schema)(made) === undefined
    ? (made as Readonly<Record<string, unknown>>)
    : undefined;
}

const deepest = 5;

function sample(schema: Schema, depth: number): unknown {
  const { examples } = schema;
  if ('const' in schema) return schema['const'];
  if ('default' in schema) return schema['default'];
  if (Array.isArray(examples) && examples.length > 0) return examples[0] as unknown;
  if (Array.isArray(schema['enum'])) return schema['enum'][0] as unknown;
  const type: unknown = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  switch (type ?? 'object') {
    case 'string':
      return 'check'.repeat(Math.max(1, Math.ceil(numberOf(schema['minLength'], 1) / 5)));
    case 'integer':
    case 'number':
      return Math.max(1, numberOf(schema['minimum'], 1));
    case 'boolean':
      return false;
    case 'array':
      return numberOf(schema['minItems'], 0) > 0 && depth < deepest && isSchema(schema['items'])
        ? [sample(schema['items'], depth + 1)]
        : [];
    case 'object': {
      const properties = isSchema(schema['properties']) ? schema['properties'] : {};
      const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
      if (depth >= deepest) return {};
      return Object.fromEntries(
        required.map((name) => {
          const property = properties[name];
          return [name, isSchema(property) ? sample(property, depth + 1) : 'check'];
        }),
      );
    }
    default:
      return null;
  }
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

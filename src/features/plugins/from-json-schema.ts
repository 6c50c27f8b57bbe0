import { z } from 'zod';

/** A plain JSON Schema of an object, which `defineTool` accepts instead of `z.object({…})`. */
export type JsonSchema = Readonly<{ type: string }> & Readonly<Record<string, unknown>>;

/**
 * Keywords by which calls are checked. Any other keyword would be ignored without notice, except those of `telling`.
 */
const checkedBy =
  /^(?:type|properties|required|additionalProperties|items|anyOf|enum|const|default|minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf|minLength|maxLength|pattern|format|minItems|maxItems|uniqueItems)$/;
const telling = /^(?:\$schema|title|description|examples)$/;
const formats = ['date', 'date-time', 'time', 'email', 'uri', 'uuid', 'ipv4', 'ipv6'];

/**
 * Turns a JSON Schema into a zod schema. If anything in it would not be checked, it throws with the place and the fix.
 */
export function fromJsonSchema(schema: unknown, place: string): z.ZodType {
  const [problem] = problemsOf(schema, place);
  if (problem !== undefined) throw new Error(`${problem}. Write that in zod`);
  return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
}

function* problemsOf(schema: unknown, place: string): Iterable<string> {
  const read = shape.safeParse(schema);
  if (!read.success) {
    for (const { path, message } of read.error.issues) yield [place, ...path].join('.') + `: ${message}`;
    return;
  }
  const { type, properties = {}, required = [], items, anyOf, format } = read.data;
  for (const key of Object.keys(read.data))
    if (!checkedBy.test(key) && !telling.test(key)) yield `${place}: ${key} would not be checked`;
  if (type === undefined && anyOf === undefined && !('enum' in read.data) && !('const' in read.data))
    yield `${place}: type is missing`;
  if (format !== undefined && !formats.includes(format))
    yield `${place}: the format ${format} would not be checked`;
  for (const name of required)
    if (!Object.hasOwn(properties, name)) yield `${place}: required names ${name}, no property`;
  for (const [name, each] of Object.entries(properties)) yield* problemsOf(each, `${place}.${name}`);
  if (items !== undefined) yield* problemsOf(items, `${place}.items`);
  for (const [n, each] of (anyOf ?? []).entries()) yield* problemsOf(each, `${place}.anyOf[${n}]`);
}

const shape = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  additionalProperties: z.boolean({ error: 'write true or false' }).optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  format: z.string().optional(),
});

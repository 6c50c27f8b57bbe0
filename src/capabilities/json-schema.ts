import { z } from 'zod';

type Schema = Readonly<Record<string, unknown>>;

/** What is wrong with a JSON Schema that data of an operation is held to; nothing where it can be used. */
export function schemaProblem(schema: Schema): string | undefined {
  if ('type' in schema && schema['type'] !== 'object') return 'its type is not object';
  const read = readSchema(schema);
  return read.ok ? undefined : read.problem;
}

/** What is wrong with data by a JSON Schema; nothing where it fits. The schema has to be one that can be used. */
export function dataProblem(schema: Schema, data: unknown): string | undefined {
  const read = readSchema(schema);
  if (!read.ok) return read.problem;
  const parsed = read.schema.safeParse(data);
  return parsed.success ? undefined : z.prettifyError(parsed.error);
}

function readSchema(
  schema: Schema,
): Readonly<{ ok: true; schema: z.ZodType } | { ok: false; problem: string }> {
  try {
    return { ok: true, schema: z.fromJSONSchema(schema) };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

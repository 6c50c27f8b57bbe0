import type { z } from 'zod';

/** The schemas for all fields of a type. A field without a schema does not compile. */
export type FieldsOf<T> = { readonly [Name in keyof Required<T>]: z.ZodType };

/** A row that was read. `reason` never quotes the row (L5). */
export type ReadJson<T> = Readonly<{ ok: true; value: T } | { ok: false; reason: string }>;

/** Reads a row. A damaged one is returned as such: the caller dead-letters and reports it (Q11). */
export function readStored<T>(schema: z.ZodType<T>, json: string): ReadJson<T> {
  return checkStored(schema, parseStored(json));
}

/** Checks what `parseStored` returned against a schema. */
export function checkStored<T>(
  schema: z.ZodType<T>,
  parsed: Readonly<{ value: unknown }> | undefined,
): ReadJson<T> {
  if (parsed === undefined) return { ok: false, reason: 'is not JSON' };
  const checked = schema.safeParse(parsed.value);
  if (checked.success) return { ok: true, value: checked.data };
  const [issue] = checked.error.issues;
  const place = issue?.path.join('.') || 'its top';
  return { ok: false, reason: `is wrong at ${place}: ${issue?.message ?? 'unknown'}` };
}

/** Parses JSON; undefined if the text is none. */
export function parseStored(json: string): Readonly<{ value: unknown }> | undefined {
  try {
    return { value: JSON.parse(json) as unknown };
  } catch {
    // Not reported, because the parser's message quotes the text.
    return undefined;
  }
}

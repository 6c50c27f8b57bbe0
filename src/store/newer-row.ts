import type { z } from 'zod';
import type { Sql } from './sql.ts';
import { checkStored, parseStored, type ReadJson } from './stored-json.ts';

/** A newer version wrote this row, so it is left for a process of that version (Q15). */
export class NewerRow extends Error {
  override readonly name = 'NewerRow';
}

/**
 * Reads a row, at once unless it is strange. If a newer version has used the database, it throws NewerRow for a row
 * that this version does not know completely. Otherwise such a row is damaged, or its unknown fields are left out.
 */
export function readShared<T>(
  { isBehind }: Sql,
  schema: z.ZodType<T>,
  json: string,
): ReadJson<T> | Promise<ReadJson<T>> {
  const parsed = parseStored(json);
  const read = checkStored(schema, parsed);
  if (isBehind === undefined) return read;
  const reason = read.ok ? unknownIn(parsed?.value, read.value) : read.reason;
  if (reason === undefined) return read;
  return isBehind().then((behind) => {
    if (!behind) return read;
    throw new NewerRow(`A newer Skillet wrote what this one does not know: it ${reason}`);
  });
}

/** Says which field of the stored JSON the parsed value lacks; undefined if none. */
function unknownIn(stored: unknown, known: unknown, path = ''): string | undefined {
  if (
    stored === known ||
    typeof stored !== 'object' ||
    typeof known !== 'object' ||
    stored === null ||
    known === null
  )
    return undefined;
  for (const [name, value] of Object.entries(stored)) {
    if (!Object.hasOwn(known, name)) return `has the field ${path}${name}`;
    const within = unknownIn(value, (known as Readonly<Record<string, unknown>>)[name], `${path}${name}.`);
    if (within !== undefined) return within;
  }
  return undefined;
}

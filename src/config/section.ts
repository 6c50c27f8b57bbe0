import { z } from 'zod';

type Camel<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Key;

/** The keys of a table as code writes them: `dm_mode` → `dmMode`. Free names below them are left alone. */
export type CamelKeys<Table> = { [Key in keyof Table as Key extends string ? Camel<Key> : Key]: Table[Key] };

type Table = Readonly<Record<string, unknown>>;
type Complain = (path: readonly string[], write: string) => void;

/**
 * A table of the config file: snake_case there, camelCase in code, every key known. `check` looks at keys together;
 * it also runs when single keys are wrong, so it must expect any value. Encoding gives the table back as written.
 */
export function section<Shape extends z.ZodRawShape>(
  shape: Shape,
  check?: (table: Table, complain: Complain) => void,
) {
  type Inner = z.output<z.ZodObject<Shape, z.core.$strict>>;
  const checked = z.strictObject(shape).superRefine(
    (table, context) => {
      check?.(table, (path, message) => context.addIssue({ code: 'custom', path: [...path], message }));
    },
    { when: ({ value }) => typeof value === 'object' && value !== null },
  );
  return z.codec(checked, z.custom<CamelKeys<Inner>>(), {
    decode: (table) => renameKeys(table, toCamel) as CamelKeys<Inner>,
    encode: (table) => renameKeys(table as Table, toSnake) as Inner,
  });
}

/** `allow_chat_ids` → `allowChatIds`. */
export function toCamel(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** `allowChatIds` → `allow_chat_ids`. */
export function toSnake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function renameKeys(table: Table, rename: (key: string) => string): Table {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [rename(key), value]));
}

import { z } from 'zod';
import type { ChatType } from '../core/conversation.ts';
import { isZone } from '../core/local-time.ts';

export const zone = z.string().refine(isZone, { error: 'write a zone such as "Europe/Zurich" or "UTC"' });

/** Host and port to listen on. Port 0 means any free port. */
export const listenAddress = z.string().refine(isListenAddress, {
  error: 'write host and port, such as "127.0.0.1:8443"',
});

/** An absolute http or https address. */
export const httpUrl = z.string().refine((text) => /^https?:\/\/[^/\s]/.test(text) && URL.canParse(text), {
  error: 'write a whole address, such as "https://example.com/path"',
});

/** The address under which browsers reach this bot (X8). Plain HTTP only on this machine, because codes travel there. */
export const publicUrl = httpUrl.refine(
  (text) => {
    const url = URL.parse(text);
    const isHere = url !== null && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
    return (url?.protocol === 'https:' || isHere) && url?.search === '' && url.hash === '';
  },
  { error: 'write the https address under which browsers reach this bot, such as "https://bot.example.com"' },
);

/** A host name or `*.name`. A bare `*` and IP addresses are refused (T9). */
export const hostPattern = z
  .string()
  .refine((text) => /^(\*\.)?([a-z0-9-]+\.)+[a-z][a-z0-9-]*$/i.test(text), {
    error: 'write a host name such as "pypi.org" or "*.example.com"',
  });

const parts = z.array(z.string().min(1)).min(1);

/** A command as a list, or as text split at spaces. No shell reads it. */
export const commandLine = z.codec(
  z.union([parts, z.string().regex(/^[^\s"'`$|&;<>]+( +[^\s"'`$|&;<>]+)*$/)], {
    error:
      'write a command such as "gogcli bridge"; with quotes or spaces in an argument write a list: ["a", "b c"]',
  }),
  parts,
  {
    decode: (written) => (typeof written === 'string' ? written.split(/ +/) : written),
    encode: (list) => list,
  },
);

const normalForms = {
  private: 'private',
  group: 'group',
  channel: 'channel',
  supergroup: 'group',
  dm: 'private',
  im: 'private',
  mpim: 'group',
} as const satisfies Record<string, ChatType>;

/** A type of chat. The platforms' own words are accepted and become normal forms (A1). */
export const chatType = z.codec(
  z.enum(Object.keys(normalForms) as (keyof typeof normalForms)[], {
    error: 'write "private", "group" or "channel"',
  }),
  z.custom<ChatType>(),
  { decode: (word) => normalForms[word], encode: (type) => type },
);

type Camel<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Key;

/** The keys of a table in camelCase: `dm_mode` becomes `dmMode`. Free names inside stay as they are. */
export type CamelKeys<Table> = { [Key in keyof Table as Key extends string ? Camel<Key> : Key]: Table[Key] };

type Table = Readonly<Record<string, unknown>>;
/** Reports a problem. `path` begins at the table that is checked. */
export type Complain = (path: KeyPath, write: string) => void;

/**
 * A table of the config: snake_case in the file, camelCase in code. Unknown keys are refused. `check` sees all keys,
 * also those with invalid values. Encoding restores the table.
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

export function toCamel(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export function toSnake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function renameKeys(table: Table, rename: (key: string) => string): Table {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [rename(key), value]));
}

function isListenAddress(text: string): boolean {
  const port = /^(?:\[[0-9a-fA-F:.]+\]|[a-zA-Z0-9.-]+):(\d{1,5})$/.exec(text)?.[1];
  return port !== undefined && Number(port) <= 65_535;
}

/** Where a value is in the file: keys and list positions from the top. */
export type KeyPath = readonly (string | number)[];

export type FromEnvironment = Readonly<{ path: KeyPath; name: string }>;

/** Writes a path as an operator would: `access.chats."slack:C1".dm` or `plugins[0].path`. */
export function formatKeyPath(path: KeyPath): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`;
      return `${index === 0 ? '' : '.'}${/^[\w-]+$/.test(part) ? part : JSON.stringify(part)}`;
    })
    .join('');
}

/** The value at a path; undefined if nothing is there. */
export function valueAt(data: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, part)
        ? (value as Readonly<Record<string | number, unknown>>)[part]
        : undefined,
    data,
  );
}

import { createHash } from 'node:crypto';

export const valuesLimit = 100_000;

export const tooManyValues = `it sent more than ${valuesLimit} values at once`;

const backslash = 0x5c;

const quote = 0x22;

const lineEnd = 0x0a;

const comma = 0x2c;

const brace = 0x7b;

const bracket = 0x5b;

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((item) => isShallow(item, levels - 1));
}

/** The members that are not undefined, for environments and headers. */
export function defined<Value>(members: Readonly<Record<string, Value | undefined>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(members).filter((one): one is [string, Value] => one[1] !== undefined),
  );
}

export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

/** Counts values in pieces of JSON text. 10 MB of small values would block the process for seconds. */
export function createCountValues(): (piece: string) => number {
  let inText = false;
  let escaped = false;
  return (piece) => {
    let values = 0;
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at);
      if (escaped) escaped = false;
      else if (inText) {
        if (code === backslash) escaped = true;
        else if (code === quote || code === lineEnd) inText = false;
      } else if (code === quote) inText = true;
      else if (code === comma || code === brace || code === bracket) values += 1;
    }
    return values;
  };
}

/** JSON as RFC 8785 says: keys sorted by UTF-16 code units, and no spaces. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value as Readonly<Record<string, unknown>>)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`;
}

/** The hash by which a token is bound to the input of its call (C3). */
export function hashJson(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

import { createHash } from 'node:crypto';

/** Values of JSON that one message may hold: of an answer with more no model would see the end. */
export const valuesLimit = 100_000;

/** What is told of a server that sent one with more. */
export const tooManyValues = `it sent more than ${valuesLimit} values at once`;

const backslash = 0x5c;

const quote = 0x22;

const lineEnd = 0x0a;

const comma = 0x2c;

const brace = 0x7b;

const bracket = 0x5b;

/** What a text says as JSON; undefined if it is none. Which data it has to be is for the caller to check. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whether plain data is nested at most so many levels: what is deeper could not be walked through. */
export function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((item) => isShallow(item, levels - 1));
}

/** Only the members that have a value, for where keys are counted: environments, headers. */
export function defined<Value>(members: Readonly<Record<string, Value | undefined>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(members).filter((one): one is [string, Value] => one[1] !== undefined),
  );
}

/** Freezes plain data and everything in it, and gives it back. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

/**
 * How many values there are in JSON that comes in pieces, cut anywhere: its commas and openings outside of texts. Reading a
 * value costs so much more than a character of a text that 10 MB of small ones keep everybody waiting for seconds.
 */
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
        // No text of JSON holds a line end: nobody hides values behind half a text.
        else if (code === quote || code === lineEnd) inText = false;
      } else if (code === quote) inText = true;
      else if (code === comma || code === brace || code === bracket) values += 1;
    }
    return values;
  };
}

/**
 * JSON as RFC 8785 writes it: keys sorted by UTF-16 code units, no spaces, so that equal data is equal text in every
 * language. What JSON has no form for is left out, as JSON.stringify does.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value as Readonly<Record<string, unknown>>)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`;
}

/** SHA-256 of the canonical JSON, in hex: what a token binds its call's input by (C3). */
export function hashJson(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

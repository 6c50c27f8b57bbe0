import { knownFields, keyName } from './known-keys.ts';
import type { FrontMap, FrontValue } from './read-values.ts';

/** YAML about which js-yaml tells too little, or that it accepts although YAML does not. */
const unusual: readonly RegExp[] = [
  // Anchors, aliases, tags and merges.
  /(?:^|[\s[{,:-])[&*!](?:\S| *$)|<</m,
  // Comments, tabs, explicit keys, and ends of documents.
  /(?:^|[\s\]}"'])#|\t|^ *\?|^[%.]/m,
  // Block texts that say how far they are indented, or keep their last blank lines.
  /[|>]-?[\d+]/,
  // Collections inside flow collections.
  /[{[,] *[{[]/,
  // Quotes that are not closed on their line, because they could swallow keys.
  /(?:^ *|[:-] +|[[{,] *)(["'])(?:(?!\1).)*$/m,
  /__proto__/,
];

/**
 * Turns what js-yaml read into front matter, each scalar as the text that was written (F3). All lines are 1 and sources
 * are empty. Undefined if the data does not tell enough; then the text has to be read with positions.
 */
export function frontFromData(data: unknown, yaml: string): FrontMap | undefined {
  if (unusual.some((form) => form.test(yaml))) return undefined;
  const front = new Map<string, FrontValue>();
  // Only a map has entries whose keys begin with a letter.
  for (const [key, value] of entriesOf(data)) {
    const read = isCollection(value) ? collectionOf(key, value, yaml) : textOf(key, value, yaml);
    if (read === undefined || !isAsWritten(key, yaml, '')) return undefined;
    front.set(key, read);
  }
  return front.size === 0 ? undefined : front;
}

function isCollection(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Date);
}

/** A scalar as it is written. Numbers, dates, booleans and null count only if exactly one line has this key. */
function textOf(key: string, value: unknown, yaml: string): FrontValue | undefined {
  if (typeof value === 'string') return { kind: 'text', text: copyOf(value), line: 1 };
  const lines = yaml.split('\n').filter((one) => one.trimStart().startsWith(`${key}:`));
  const written = /^: +(\S+) *$/.exec(lines.join('\n').trim().slice(key.length))?.[1];
  return written === undefined ? undefined : { kind: 'text', text: copyOf(written), line: 1 };
}

/**
 * A list or map of a key whose source does not matter. Of other keys the source is needed, because an unknown key may
 * restrict something.
 */
function collectionOf(key: string, value: object, yaml: string): FrontValue | undefined {
  const name = keyName(key);
  if (!knownFields.has(name) || name === 'argument_hint') return undefined;
  if (Array.isArray(value)) return listOf(value);
  if (name !== 'metadata' && name !== 'access') return undefined;
  const entries = new Map<string, FrontValue>();
  for (const [inner, one] of entriesOf(value)) {
    const list = name === 'access' && Array.isArray(one) ? listOf(one) : undefined;
    const read = isCollection(one) ? list : textOf(inner, one, yaml);
    if (read === undefined || !isAsWritten(inner, yaml, ' ')) return undefined;
    entries.set(inner, read);
  }
  return { kind: 'map', entries, source: '', flow: false, line: 1 };
}

function listOf(value: readonly unknown[]): FrontValue | undefined {
  if (!value.every((item) => typeof item === 'string')) return undefined;
  const items = value.map((text): FrontValue => ({ kind: 'text', text: copyOf(text), line: 1 }));
  return { kind: 'list', items, source: '', flow: false, line: 1 };
}

/** Copies a text, because a part of the file's text would keep all of it in memory. */
function copyOf(text: string): string {
  return Buffer.from(text).toString();
}

/**
 * Whether a line begins with the key: js-yaml changes keys such as `1.10` and `True`, sorts numbers, and takes another
 * key after a quote or bracket that ends a value.
 */
function isAsWritten(key: string, yaml: string, indent: '' | ' '): boolean {
  return /^[A-Za-z]/.test(key) && `\n${yaml}`.replace(/\n +/g, '\n ').includes(`\n${indent}${key}:`);
}

function entriesOf(data: unknown): readonly (readonly [string, unknown])[] {
  return Object.entries(data ?? {});
}

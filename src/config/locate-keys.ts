import type { KeyPath } from './section.ts';

/** A place in the file, counted from 1. Columns are UTF-16 units. */
export type Place = Readonly<{ line: number; column: number }>;

/**
 * Finds the places of keys in a text, which has to be valid TOML. A path that is absent gets the place of its parent.
 */
export function locateKeys(text: string): (path: KeyPath) => Place | undefined {
  const places = readPlaces(text);
  return (path) => {
    for (let length = path.length; length > 0; length--) {
      const offset = places.get(JSON.stringify(path.slice(0, length)));
      if (offset === undefined) continue;
      const before = text.slice(0, offset).split('\n');
      return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
    }
    return undefined;
  };
}

/** Offsets of keys by their path as JSON. A repeated key has the offset of the first. */
function readPlaces(text: string): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  const tableCounts = new Map<string, number>();
  let at = 0;
  let table: KeyPath = [];

  const mark = (path: KeyPath, offset: number): void => {
    const key = JSON.stringify(path);
    if (!places.has(key)) places.set(key, offset);
  };
  const skip = (blank: RegExp): void => {
    blank.lastIndex = at;
    at += blank.exec(text)?.[0].length ?? 0;
  };
  const skipSpaces = (): void => skip(/[ \t]*/y);
  const skipVoid = (): void => skip(/(?:[\s\uFEFF]|#[^\n]*)*/y);

  function readKey(): readonly string[] {
    const parts: string[] = [];
    for (;;) {
      skipSpaces();
      const start = at;
      const quoted = text[at] === '"' || text[at] === "'";
      if (quoted) skipString();
      else skip(/[\w-]*/y);
      parts.push(quoted ? unquote(text.slice(start, at)) : text.slice(start, at));
      skipSpaces();
      if (text[at] !== '.') return parts;
      at++;
    }
  }

  function skipString(): void {
    const quote = text[at] ?? '';
    const long = text.startsWith(quote.repeat(3), at);
    // A long string may end with two quotes that belong to it.
    const basic = long ? /"""(?:\\[^]|[^\\])*?"{3,5}/y : /"(?:\\.|[^"\\])*"/y;
    const literal = long ? /'''[^]*?'{3,5}/y : /'[^']*'/y;
    skip(quote === '"' ? basic : literal);
  }

  function readValue(path: KeyPath): void {
    const first = text[at];
    if (first === '"' || first === "'") return skipString();
    if (first !== '{' && first !== '[') return skip(/[^,\]}#\n]*/y);
    at++;
    for (let index = 0; ; index++) {
      skip(/(?:[\s,]|#[^\n]*)*/y);
      if (at >= text.length || text[at] === '}' || text[at] === ']') break;
      if (first === '{') {
        readPair(path);
      } else {
        mark([...path, index], at);
        readValue([...path, index]);
      }
    }
    at++;
  }

  function readPair(prefix: KeyPath): void {
    const start = at;
    const path = [...prefix];
    for (const part of readKey()) {
      path.push(part);
      mark(path, start);
    }
    at++;
    skipSpaces();
    readValue(path);
  }

  function readHeader(): void {
    const start = at;
    const isList = text.startsWith('[[', at);
    at += isList ? 2 : 1;
    const parts = readKey();
    at += isList ? 2 : 1;
    const path: (string | number)[] = [];
    for (const [index, part] of parts.entries()) {
      path.push(part);
      mark(path, start);
      const key = JSON.stringify(path);
      const isNew = isList && index === parts.length - 1;
      if (isNew) tableCounts.set(key, (tableCounts.get(key) ?? 0) + 1);
      const count = tableCounts.get(key);
      if (count !== undefined) path.push(count - 1);
    }
    mark(path, start);
    table = path;
  }

  for (;;) {
    skipVoid();
    if (at >= text.length) return places;
    if (text[at] === '[') readHeader();
    else readPair(table);
  }
}

function unquote(written: string): string {
  if (written.startsWith("'")) return written.slice(1, -1);
  return written
    .slice(1, -1)
    .replace(/\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|.)/g, (_, code: string) => {
      const simple = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\u001b' }[code];
      return simple ?? (code.length > 1 ? String.fromCodePoint(parseInt(code.slice(1), 16)) : code);
    });
}

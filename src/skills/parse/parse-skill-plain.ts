import type { FrontMap, FrontValue } from './front-value.ts';

/**
 * Reads front matter that is nothing but `key: value` lines which every YAML reader reads alike, with one level of
 * indented pairs below a key; anything else gives nothing and is left to the YAML parser. It answers exactly
 * what the parser would, in a twentieth of the time and without loading it: most skills are read at every start.
 */
export function parsePlainFrontMatter(yaml: string): FrontMap | undefined {
  const front = new Map<string, FrontValue>();
  const lines = yaml.endsWith('\n') ? yaml.slice(0, -1).split('\n') : yaml.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const pair = plainPair.exec(line);
    const [, key = '', value] = pair ?? [];
    if (pair === null || front.has(key)) return undefined;
    if (value !== undefined) {
      const text = readScalar(value);
      // A line that goes on below it begins with a blank: no pair, so the parser's business.
      if (text === undefined) return undefined;
      front.set(key, { kind: 'text', text, line: at + 1 });
      continue;
    }
    const entries = new Map<string, FrontValue>();
    const first = at + 1;
    while (lines[at + 1]?.startsWith('  ')) {
      at += 1;
      const inner = plainPair.exec((lines[at] ?? '').slice(2));
      const [, innerKey = '', innerValue] = inner ?? [];
      const text = innerValue === undefined ? undefined : readScalar(innerValue);
      if (text === undefined || entries.has(innerKey)) return undefined;
      entries.set(innerKey, { kind: 'text', text, line: at + 1 });
    }
    if (entries.size === 0) return undefined;
    const source = lines
      .slice(first, at + 1)
      .join('\n')
      .slice(2);
    front.set(key, { kind: 'map', entries, source, flow: false, line: first });
  }
  return front;
}

const plainPair = /^([A-Za-z][A-Za-z0-9_-]*):(?: ([^ \t].*))?$/;
/** Begins with a letter or digit; no colon or `#` that YAML could take for its own; no edge space; printable. */
const plainScalar = /^(?:[\p{L}\p{N}](?:[^\s\p{C}:#]|:(?=[^\s\p{C}])|(?<=\S)#| (?=[^\s#]))*)$/u;
const quoted = /^(?:"([^"\\\p{C}]*)"|'([^'\p{C}]*)')$/u;

function readScalar(value: string): string | undefined {
  if (plainScalar.test(value)) return value;
  const match = quoted.exec(value);
  return match === null ? undefined : (match[1] ?? match[2]);
}

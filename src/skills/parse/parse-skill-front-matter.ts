import { isAccessLine } from '../access-line.ts';
import type { FrontMap, FrontProblem, FrontValue } from './read-values.ts';
import { parseYamlFrontMatter } from './parse-skill-yaml.ts';

const plainPair = /^([A-Za-z][A-Za-z0-9_-]*):(?: ([^ \t].*))?$/;

/** Begins with a letter or digit; no colon or `#` that YAML could take for its own; no edge space; printable. */
const plainScalar = /^(?:[\p{L}\p{N}](?:[^\s\p{C}:#]|:(?=[^\s\p{C}])|(?<=\S)#| (?=[^\s#]))*)$/u;

const quoted = /^(?:"([^"\\\p{C}]*)"|'([^'\p{C}]*)')$/u;

export type FrontMatter =
  | Readonly<{ ok: true; front: FrontMap; /** Keys put in quotes (F4). */ repaired: readonly string[] }>
  | Readonly<{ ok: false; problem: FrontProblem }>;

/** The YAML of a skill as strings, lists and maps; what F4 lets be repaired is repaired once (F3, F4). Never throws. */
export function parseFrontMatter(yaml: string): FrontMatter {
  const plain = parsePlainFrontMatter(yaml);
  if (plain !== undefined && !hasMapForText(plain)) return { ok: true, front: plain, repaired: [] };
  const first = parseYamlFrontMatter(yaml);
  const repair = first.ok && !hasMapForText(first.front) ? undefined : repairFrontMatter(yaml);
  if (repair !== undefined && 'code' in repair) return { ok: false, problem: repair };
  const second = repair === undefined ? undefined : parseYamlFrontMatter(repair.yaml);
  if (repair !== undefined && second?.ok) return { ok: true, front: second.front, repaired: repair.keys };
  return first.ok ? { ok: true, front: first.front, repaired: [] } : first;
}

/** `description:` with `Use when: x` on the next line is YAML, but not what was meant. */
function hasMapForText(front: FrontMap): boolean {
  return ['name', 'description'].some((key) => {
    const value = front.get(key);
    return value?.kind === 'map' && !value.flow;
  });
}

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
      // A line that continues below it begins with a blank: no pair, so the parser's business.
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

function readScalar(value: string): string | undefined {
  if (plainScalar.test(value)) return value;
  const match = quoted.exec(value);
  return match === null ? undefined : (match[1] ?? match[2]);
}

/** Front matter after a repair, and the keys whose values were put in quotes. */
type Repair = Readonly<{ yaml: string; keys: readonly string[] }>;

/**
 * Puts an unquoted top-level `name` or `description` that holds a colon, or begins with a character that no YAML text
 * begins with, into quotes (F4), and an `argument-hint` like
 * `[file] [count]` (F8); nothing when there is none. No other key is ever touched: a guess must not grant anything. Nor is
 * a line that grants or restricts something taken into a text: that is a problem.
 */
export function repairFrontMatter(yaml: string): Repair | FrontProblem | undefined {
  const lines = yaml.split('\n');
  const repaired: string[] = [];
  const keys: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const [, hint, words] = /^(argument[-_]hint):[ \t]+([[<{].*[^\s])[ \t]*$/.exec(line) ?? [];
    if (hint !== undefined && words !== undefined) {
      repaired.push(`${hint}: ${quote(words)}`);
      keys.push(hint);
      continue;
    }
    const [, key, rest = ''] = /^(name|description):(?:[ \t]+(.*))?$/.exec(line) ?? [];
    const value = [rest.trim()];
    let next = at + 1;
    while (key !== undefined && /^[ \t]+\S/.test(lines[next] ?? '')) {
      value.push((lines[next] ?? '').trim());
      next += 1;
    }
    const text = value.filter((part) => part !== '').join('\n  ');
    const below = lines.slice(at + 1, next);
    if (key === undefined || !isPlain(text) || !/:(?:\s|$)|^[@`%,]/.test(text)) {
      repaired.push(line);
      continue;
    }
    const swallowed = below.findIndex(isAccessLine);
    if (swallowed !== -1) return indented(key, below[swallowed] ?? '', at + 2 + swallowed);
    repaired.push(`${key}: ${quote(text)}`);
    keys.push(key);
    at = next - 1;
  }
  return keys.length === 0 ? undefined : { yaml: repaired.join('\n'), keys };
}

function indented(above: string, text: string, line: number): FrontProblem {
  const key = text.trim().split(':')[0] ?? '';
  const message = `${key} is indented, so it would belong to ${above}: begin its line with it`;
  return { code: 'YAML_INDENT', message, line };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Neither quoted, nor a block, list, map, anchor, tag or comment. */
function isPlain(text: string): boolean {
  return !/^(?:["'|>[\]{}&*!#?]|-\s)/.test(text);
}

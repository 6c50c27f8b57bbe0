import { createRequire } from 'node:module';
import type yaml from 'yaml';
import {
  isAccessLine,
  type FrontMap,
  type FrontProblem,
  type FrontResult,
  type FrontValue,
} from './read-values.ts';

const fixes: readonly (readonly [RegExp, string])[] = [
  [
    /same column|block sequence may not/,
    'lines of one list or map begin in the same column: indent this one like the others',
  ],
  [/^NON_STRING_KEY/, 'a list or map stands where a key belongs: write "key: value" there'],
  [
    /^BAD_INDENT Flow/,
    '[ or { is not closed, or a line within it is not indented: close it by ] or }, or put the value in quotes if it is a text',
  ],
  [/^BAD_SCALAR_START/, 'a value cannot begin with this character: put the whole value in quotes'],
  [
    /^BAD_DQ_ESCAPE/,
    `a backslash in "…" begins an escape, and YAML does not know this one: write \\\\ for a backslash, or use '…'`,
  ],
  [/closing .quote/, 'a quote is opened and never closed: add the closing one'],
  [/^TAB_AS_INDENT/, 'a tab indents this line: use spaces'],
  [/^DUPLICATE_KEY/, 'this key is given twice: remove one'],
  [/^TAG_RESOLVE_FAILED/, 'a value cannot begin with "!", which begins a tag: put it in quotes'],
  [
    /on same line with key/,
    'a list begins on the line below its key: move it there, or put the value in quotes if it is a text',
  ],
  [
    /[Bb]lock scalar|Not a YAML token/,
    'after | or > the text begins on the next line, indented: move it there',
  ],
  [
    / in flow |between flow|flow-(?:map|seq)-end/,
    'a list in [ ] or a map in { } has a comma or bracket too many: correct it, or put the value in quotes if it is a text',
  ],
  [
    /at node end/,
    `something follows the end of the value: put the whole value in quotes, and write ' as '' within '…'`,
  ],
  [/ALIAS|ANCHOR/i, '& and * have a meaning of their own in YAML: put the value in quotes'],
];

const require = createRequire(import.meta.url);

const depthLimit = 8;

/** `repaired` lists the keys whose values had to be quoted (F4). */
export type RepairedYaml =
  Readonly<{ ok: true; front: FrontMap; repaired: readonly string[] }> | Extract<FrontResult, { ok: false }>;

/** Reads YAML. What may be repaired is repaired once (F4). */
export function parseRepairedYaml(text: string): RepairedYaml {
  const first = parseYamlFrontMatter(text);
  const asWritten: RepairedYaml = first.ok ? { ...first, repaired: [] } : first;
  if (first.ok && !hasMapForText(first.front)) return asWritten;
  const repair = repairFrontMatter(text);
  if (repair === undefined) return asWritten;
  if ('code' in repair) return { ok: false, problem: repair };
  const second = parseYamlFrontMatter(repair.yaml);
  return second.ok ? { ...second, repaired: repair.keys } : asWritten;
}

/** Whether a text was read as a map: `description:` followed by a line `Use when: x` is one, but not meant as one. */
function hasMapForText(front: FrontMap): boolean {
  return ['name', 'description'].some((key) => {
    const value = front.get(key);
    return value?.kind === 'map' && !value.flow;
  });
}

/**
 * Reads front matter. Scalars stay strings; aliases, anchors, tags, duplicate keys and deep nesting are problems (F3).
 * Never throws.
 */
export function parseYamlFrontMatter(text: string): FrontResult {
  const opened = openYaml(text, {
    stringKeys: true,
    // `readMap` checks this itself, because the library's check is quadratic.
    uniqueKeys: false,
  });
  if (!opened.ok) return opened;
  const { library, document, lineAt } = opened;
  const { contents } = document;
  if (contents === null) return { ok: true, front: new Map() };
  if (!library.isMap(contents)) return notAMap;
  const read = readNode(contents, { library, text, lineAt, depth: 0 });
  if ('code' in read) return { ok: false, problem: read };
  return { ok: true, front: read.kind === 'map' ? read.entries : new Map() };
}

export type OpenedYaml = Readonly<{
  ok: true;
  library: typeof yaml;
  document: ReturnType<typeof yaml.parseDocument>;
  lineAt: (offset: number) => number;
  /** The column of an offset, counted from 1. */
  columnAt: (offset: number) => number;
}>;

/** Parses YAML with all scalars as text. The library is loaded on first use. */
export function openYaml(
  text: string,
  options: Pick<yaml.ParseOptions & yaml.DocumentOptions, 'stringKeys' | 'uniqueKeys'> = {},
): OpenedYaml | Extract<FrontResult, { ok: false }> {
  const library = require('yaml') as typeof yaml;
  const lineCounter = new library.LineCounter();
  const lineAt = (offset: number): number => Math.max(1, lineCounter.linePos(offset).line);
  try {
    const document = library.parseDocument(text, {
      ...options,
      schema: 'failsafe',
      lineCounter,
      logLevel: 'error',
      prettyErrors: false,
    });
    const problem = yamlProblem(document, text, lineAt);
    if (problem !== undefined) return { ok: false, problem };
    const columnAt = (offset: number): number => lineCounter.linePos(offset).col;
    return { ok: true, library, document, lineAt, columnAt };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return failed('YAML_ERROR', 'this cannot be read as YAML: make it simpler');
  }
}

type Place = Readonly<{
  library: typeof yaml;
  text: string;
  lineAt: (offset: number) => number;
  depth: number;
}>;

function readNode(node: unknown, place: Place): FrontValue | FrontProblem {
  const { library, lineAt, depth, text } = place;
  if (!library.isNode(node)) return { kind: 'text', text: '', line: 1 };
  const [start, end] = node.range ?? [0, 0];
  const line = lineAt(start);
  if (library.isAlias(node))
    return { code: 'YAML_ALIAS', message: `*${node.source} is an alias: write it out`, line };
  if (node.tag !== undefined) return { code: 'YAML_TAG', message: `${node.tag} is a tag: remove it`, line };
  if (node.anchor !== undefined)
    return { code: 'YAML_ANCHOR', message: `&${node.anchor} is an anchor: remove it`, line };
  if (library.isScalar(node)) {
    const value = typeof node.value === 'string' ? node.value : '';
    const cut = node.type === 'PLAIN' && value !== '' && typeof node.comment === 'string';
    return { kind: 'text', text: value, line, cutBy: cut ? `#${node.comment}` : undefined };
  }
  if (depth >= depthLimit)
    return { code: 'YAML_DEPTH', message: `more than ${depthLimit} lists or maps inside one another`, line };
  const inner = { ...place, depth: depth + 1 };
  const shape = { source: text.slice(start, end).trimEnd(), line };
  if (library.isMap(node)) return readMap(node, inner, { ...shape, flow: node.flow === true });
  const items: FrontValue[] = [];
  for (const item of library.isSeq(node) ? node.items : []) {
    const value = readNode(item, inner);
    if ('code' in value) return value;
    items.push(value);
  }
  return { kind: 'list', items, ...shape, flow: node.flow === true };
}

function readMap(
  node: yaml.YAMLMap,
  place: Place,
  shape: Readonly<{ source: string; flow: boolean; line: number }>,
): FrontValue | FrontProblem {
  const entries = new Map<string, FrontValue>();
  for (const pair of node.items) {
    const key = readNode(pair.key, place);
    if ('code' in key) return key;
    const { line } = key;
    if (key.kind !== 'text') return { code: 'YAML_ERROR', message: 'a key is a text', line };
    if (entries.has(key.text))
      return { code: 'YAML_DUPLICATE_KEY', message: `"${key.text}" is given twice`, line };
    const value = readNode(pair.value, place);
    if ('code' in value) return value;
    entries.set(key.text, { ...value, line });
  }
  return { kind: 'map', entries, ...shape };
}

export const notAMap = failed('YAML_NOT_A_MAP', 'front matter is lines of "key: value"');

function failed(code: string, message: string): Extract<FrontResult, { ok: false }> {
  return { ok: false, problem: { code, message, line: 1 } };
}

function yamlProblem(
  { errors, warnings }: yaml.Document,
  text: string,
  lineAt: (offset: number) => number,
): FrontProblem | undefined {
  const [found] = [...errors, ...warnings].sort((a, b) => a.pos[0] - b.pos[0]);
  if (found === undefined) return undefined;
  const line = lineAt(found.pos[0]);
  const written = text.split('\n')[line - 1] ?? '';
  const code = found.code === 'TAG_RESOLVE_FAILED' ? 'YAML_TAG' : 'YAML_ERROR';
  return { code, message: sentence(found, written), line };
}

/** Says in plain words what is wrong, because the parser's own words are about the grammar of YAML. */
function sentence({ code, message }: yaml.YAMLError, line: string): string {
  if (/^(?:<{7}|={7}|>{7})(?: |$)/.test(line))
    return `${JSON.stringify(line)} is left of a merge conflict: decide which lines stay and remove the markers`;
  const fault = `${code} ${message}`;
  const key = /^[ \t]*(?:- +)*([^\s:#"'[{][^:]*):(?:[ \t]|$)/.exec(line)?.[1];
  if (/compact mappings/.test(fault))
    return `${key ?? 'this'} has a value with ": " in it, which begins another key in YAML: put the whole value in quotes`;
  if (/^MULTILINE_IMPLICIT_KEY|followed by map values/.test(fault))
    return `${JSON.stringify(line.trim().slice(0, 60))} is no line of "key: value" (with a space after the colon): write one, or indent it if it belongs to the line above`;
  return (
    fixes.find(([form]) => form.test(fault))?.[1] ?? 'this is no YAML: if it is a text, put it in quotes'
  );
}

type Repair = Readonly<{ yaml: string; keys: readonly string[] }>;

/**
 * Quotes a plain top-level `name` or `description` that has a colon or a bad first character (F4), and an
 * `argument-hint` such as `[file] [count]` (F8). It never touches other keys, because a guess must not grant anything.
 * A line inside a text that would grant or restrict something is a problem. Undefined if there is nothing to repair.
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

function isPlain(text: string): boolean {
  return !/^(?:["'|>[\]{}&*!#?]|-\s)/.test(text);
}

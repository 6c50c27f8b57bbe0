import { createRequire } from 'node:module';
import type matter from 'gray-matter';
import type yaml from 'yaml';
import type { FrontProblem, FrontResult, FrontValue } from './read-values.ts';

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

/** Lists and maps inside one another, at most. */
const depthLimit = 8;

/**
 * Reads YAML as F2 and F3 say: by gray-matter, with `yaml` as its only engine and under our own cap and split; scalars
 * stay strings; aliases, anchors, tags, duplicate keys and deep nesting are problems. Never throws, evaluates nothing.
 * The libraries are loaded when the first file needs them.
 */
export function parseYamlFrontMatter(yamlText: string): FrontResult {
  const grayMatter = require('gray-matter') as typeof matter;
  let answer: FrontResult = { ok: true, front: new Map() };
  // Always with options: without them gray-matter caches, and a bad file has no error the second time.
  const file = grayMatter(`---\n${yamlText}\n---\n`, {
    language: 'yaml',
    delimiters: '---',
    engines: {
      yaml: {
        parse(text: string): object {
          answer = readYaml(text.slice(1));
          // gray-matter looks into what it is given (`excerpt_separator`), so it is given nothing.
          return {};
        },
      },
      javascript: denied,
      json: denied,
      coffee: denied,
    },
  });
  if (file.matter !== `\n${yamlText}`) return failed('YAML_ERROR', 'a line begins with "---"', 1);
  return answer;
}

const denied = {
  parse(): object {
    throw new Error('front matter is YAML; nothing else is read');
  },
};

function readYaml(text: string): FrontResult {
  const library = require('yaml') as typeof yaml;
  const lineCounter = new library.LineCounter();
  const lineAt = (offset: number): number => Math.max(1, lineCounter.linePos(offset).line);
  let document: ReturnType<typeof library.parseDocument>;
  try {
    document = library.parseDocument(text, {
      schema: 'failsafe',
      lineCounter,
      logLevel: 'error',
      prettyErrors: false,
      stringKeys: true,
      // Checked in `readMap`: the library's own check takes time with the square of the keys.
      uniqueKeys: false,
    });
  } catch (error) {
    // A parser that gives up (a stack too deep) is one more way for a file to be wrong.
    if (error instanceof Error)
      return failed('YAML_ERROR', 'this cannot be read as YAML: make it simpler', 1);
    throw error;
  }
  const problem = yamlProblem(document, text, lineAt);
  if (problem !== undefined) return { ok: false, problem };
  const { contents } = document;
  if (contents === null) return { ok: true, front: new Map() };
  if (!library.isMap(contents)) return failed('YAML_NOT_A_MAP', 'front matter is lines of "key: value"', 1);
  const read = readNode(contents, { library, text, lineAt, depth: 0 });
  if ('code' in read) return { ok: false, problem: read };
  return { ok: true, front: read.kind === 'map' ? read.entries : new Map() };
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

function failed(code: string, message: string, line: number): FrontResult {
  return { ok: false, problem: { code, message, line } };
}

/** The first thing that is wrong with the YAML of a skill, in words for its author, and what to write instead. */
export function yamlProblem(
  { errors, warnings }: Pick<yaml.Document, 'errors' | 'warnings'>,
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

/** In place of the parser's own words, which speak of YAML's grammar. */
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

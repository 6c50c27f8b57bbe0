import type yaml from 'yaml';
import { notAMap, openYaml, type OpenedYaml } from './parse-yaml.ts';
import { nameProblems } from './skill-definition.ts';

/** A problem. `line` is counted from 1 in the file. */
export type SkillFault = Readonly<{ code: string; message: string; field?: string; line?: number }>;

const specificationKeys = ['name', 'description', 'license', 'allowed-tools', 'metadata', 'compatibility'];

/** Finds the problems that skills-ref 0.1.0 finds (F5). `text` is the whole file with its byte order mark. */
export function findStrictProblems(text: string, directory: string): readonly SkillFault[] {
  // Like Python's text mode; to the reference's YAML, NEL is a line end, too.
  const content = text.replace(/\r\n?|\u0085/g, '\n');
  if (!content.startsWith('---'))
    return [finding('FRONT_MATTER_MISSING', 'the file must begin with "---" at byte 0')];
  const end = content.indexOf('---', 3);
  if (end === -1) return [finding('FRONT_MATTER_UNCLOSED', 'a second "---" must close the front matter')];
  const front = content.slice(3, end);
  const read = readStrictYaml(front);
  if (!read.ok) return [read.problem];
  return fieldProblems(read.entries, directory);
}

type Entry = Readonly<{ kind: 'text'; text: string; line: number } | { kind: 'other'; line: number }>;
type StrictYaml =
  Readonly<{ ok: true; entries: ReadonlyMap<string, Entry> }> | Readonly<{ ok: false; problem: SkillFault }>;

function readStrictYaml(written: string): StrictYaml {
  const front = indentQuoted(written);
  const opened = openYaml(front);
  if (!opened.ok) return opened;
  const { library, document, lineAt } = opened;
  const { contents } = document;
  const fail = (code: string, message: string, offset: number): StrictYaml => {
    return { ok: false, problem: { code, message, line: lineAt(offset) } };
  };
  const control = unprintable.exec(front);
  if (control !== null) return fail('YAML_ERROR', 'a control character: remove it', control.index);
  const tab = findTab(front, opened);
  if (tab !== undefined) return fail('YAML_ERROR', 'a tab outside of quotes: use spaces', tab);
  if (!library.isMap(contents)) return notAMap;
  let found: StrictYaml | undefined;
  library.visit(document, (_key, node) => {
    const problem = library.isNode(node) ? problemOfNode(node, front, opened) : undefined;
    if (problem === undefined) return undefined;
    found = fail(...problem);
    return library.visit.BREAK;
  });
  if (found !== undefined) return found;
  const entries = contents.items.map(({ key, value }): [string, Entry] => {
    const line = library.isNode(key) ? lineAt(key.range?.[0] ?? 0) : 1;
    const name = library.isScalar(key) ? textOfScalar(key) : '';
    if (value !== null && !library.isScalar(value)) return [name, { kind: 'other', line }];
    return [name, { kind: 'text', text: value === null ? '' : textOfScalar(value), line }];
  });
  return { ok: true, entries: new Map(entries) };
}

function problemOfNode(
  node: yaml.Node,
  front: string,
  { library, columnAt }: OpenedYaml,
): [code: string, message: string, offset: number] | undefined {
  const at = node.range?.[0] ?? 0;
  if (library.isAlias(node)) return ['YAML_ALIAS', 'aliases are not allowed: write the value out', at];
  if (node.anchor !== undefined)
    return ['YAML_ANCHOR', 'anchors are not allowed: remove it, or put the value in quotes', at];
  if (node.tag !== undefined)
    return ['YAML_TAG', 'tags are not allowed: remove it, or put the value in quotes', at];
  if (library.isCollection(node) && node.flow === true) {
    const message =
      'lists in [ ] and maps in { } are not allowed: write one item a line, or put a text in quotes';
    return ['YAML_FLOW', message, at];
  }
  if (!library.isMap(node)) return undefined;
  const isApart = node.items.some(({ key }) => {
    const end = library.isNode(key) ? (key.range?.[1] ?? 0) : 0;
    return /^\s*\n\s*:(?:\s|$)/.test(front.slice(end, end + 200)) && !front.startsWith('?', at);
  });
  if (isApart) return ['YAML_ERROR', 'a key and its ":" must be on one line', at];
  const columns = node.items.flatMap(({ value }) =>
    library.isMap(value) ? [columnAt(value.range?.[0] ?? 0)] : [],
  );
  return columns.some((column) => column !== columns[0])
    ? ['YAML_INDENTATION', 'maps side by side must be indented alike', at]
    : undefined;
}

function textOfScalar({ value }: yaml.Scalar): string {
  return typeof value === 'string' ? value : '';
}

/** The reference lets quoted text continue in the first column; our parser needs an indent there. */
function indentQuoted(front: string): string {
  return front.replace(
    /^([^\s#"':][^\n"':]*:[ \t]+)("(?:[^"\\]|\\[^])*"|'(?:[^']|'')*')/gm,
    (_whole, key: string, text: string) => key + text.replace(/\n[ \t]*(?=\S)/g, '\n '),
  );
}

/** Where the reference refuses a tab: outside of quotes, comments and block text. Undefined if it does not. */
function findTab(front: string, { library, document }: OpenedYaml): number | undefined {
  if (!front.includes('\t')) return undefined;
  let bare = front;
  const blank = (start: number, end: number, keep: RegExp): void => {
    const covered = bare.slice(start, end).replace(keep, (part) => part.replaceAll('\t', '.'));
    bare = bare.slice(0, start) + covered + bare.slice(end);
  };
  library.visit(document, {
    Scalar(_key, { type, range }) {
      const [start, end] = range ?? [0, 0, 0];
      if (type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE') blank(start, end, /[^]+/);
      // A tab before the block's indentation counts as refused.
      if (type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED') {
        const indent = /\n( +)\S/.exec(front.slice(start, end))?.[1] ?? ' ';
        blank(start, end, new RegExp(`(?<=\n${indent}).*`, 'g'));
      }
    },
  });
  const at = bare.replace(/(^|[ \n])#.*/g, (comment) => comment.replaceAll('\t', '.')).indexOf('\t');
  return at === -1 ? undefined : at;
}

const unprintable = /[^\t\n\r\u0020-\u007e\u0085\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

function fieldProblems(entries: ReadonlyMap<string, Entry>, directory: string): readonly SkillFault[] {
  const problems: SkillFault[] = [];
  const add = (field: string, code: string, message: string): void => {
    problems.push({ ...finding(code, message), field, line: entries.get(field)?.line ?? 1 });
  };
  for (const key of entries.keys()) {
    if (!specificationKeys.includes(key))
      add(key, 'FIELD_UNKNOWN', `"${key}" is no key of the specification; put it under metadata`);
  }
  const name = textOf(entries, 'name');
  if (name === undefined || strip(name) === '')
    add('name', 'NAME_MISSING', 'there is no name: write the name of the folder');
  else for (const problem of nameProblems(strip(name), directory)) add('name', 'NAME_INVALID', problem);
  const description = textOf(entries, 'description');
  const length = [...(description ?? '')].length;
  if (description === undefined || strip(description) === '')
    add(
      'description',
      'DESCRIPTION_MISSING',
      'there is no description: write what the skill does and when to use it',
    );
  else if (length > 1024) add('description', 'DESCRIPTION_TOO_LONG', `${length} characters; at most 1024`);
  if (entries.has('compatibility')) {
    const compatibility = textOf(entries, 'compatibility');
    const size = [...(compatibility ?? '')].length;
    if (compatibility === undefined || size > 500)
      add('compatibility', 'FIELD_INVALID', 'compatibility must be a text of at most 500 characters');
  }
  return problems;
}

function textOf(entries: ReadonlyMap<string, Entry>, key: string): string | undefined {
  const entry = entries.get(key);
  return entry?.kind === 'text' ? entry.text : undefined;
}

/** Strips like Python's `str.strip`, which keeps a byte order mark. */
function strip(text: string): string {
  return text.replace(/^(?:(?!\ufeff)[\s\u0085])+|(?:(?!\ufeff)[\s\u0085])+$/g, '');
}

function finding(code: string, message: string): SkillFault {
  return { code, message, line: 1 };
}

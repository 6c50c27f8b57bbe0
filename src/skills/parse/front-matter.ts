import { createRequire } from 'node:module';
import type matter from 'gray-matter';
import type { Diagnostic } from '../../core/codes.ts';
import { hasMapForText, parseRepairedYaml, type RepairedYaml } from './parse-yaml.ts';
import { isAccessLine, type FrontMap, type FrontValue } from './read-values.ts';

/** Bytes of YAML between the two `---` lines (F2). */
export const frontMatterLimit = 8 * 1024;

/** Characters that hold the longest front matter and the lines around it. */
const headLimit = frontMatterLimit + 2 * 1024;

/** A skill file in two: its front matter as values, and the body as written. */
export type FrontMatter = Readonly<{
  front: FrontMap;
  /** Keys whose values were put in quotes (F4). */
  repaired: readonly string[];
  body: string;
  /** Line of the file on which the YAML begins, 1-based. */
  yamlLine: number;
}>;

export type FrontMatterResult = Readonly<{ warnings: readonly Diagnostic[] }> &
  (
    | Readonly<{ ok: true; file: FrontMatter }>
    /** `accessBroken`: what is wrong may grant or restrict something (D7). */
    | Readonly<{ ok: false; problem: Diagnostic; accessBroken: boolean }>
  );

const require = createRequire(import.meta.url);
const opening = /^---[ \t]*(?:\r?\n|$)/;
const closing = /^\n---[ \t]*(?:\r?\n|$)/;

/** Everything YAML does not call printable. */
const controlCharacter =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u0084\u0086-\u009f\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Splits and reads a skill file, or the first part of one (F2–F4). Never throws, evaluates nothing. */
export function readFrontMatter(text: string): FrontMatterResult {
  const warnings: Diagnostic[] = [];
  const warn = (code: string, message: string): void =>
    void warnings.push({ level: 'warning', code, message, line: 1 });
  const refuse = (code: string, message: string, line: number, accessBroken = false): FrontMatterResult => {
    return { ok: false, problem: { level: 'error', code, message, line }, accessBroken, warnings };
  };
  const mark = text.startsWith('\uFEFF') ? 1 : 0;
  if (mark > 0) warn('BYTE_ORDER_MARK', 'the file begins with a byte order mark; save it without one');
  const blank = /^(?:[ \t]*\r?\n)+/.exec(text.slice(mark, mark + frontMatterLimit))?.[0] ?? '';
  if (blank !== '') warn('BLANK_LINES_FIRST', 'blank lines before the first "---"; remove them');
  const start = mark + blank.length;
  const firstLine = blank.split('\n').length;
  const head = text.slice(start, start + headLimit);
  // Before gray-matter sees it: another word on the line would name another engine.
  if (!opening.test(head)) return refuse(...openingProblem(head), firstLine);
  const { yaml, end, read } = readPlainFile(head) ?? readByLibrary(head);
  const size = Buffer.byteLength(yaml);
  const isLong = end === undefined && /^---[ \t]*\r?$/m.test(text.slice(start + 3));
  if (isLong || size > frontMatterLimit)
    return refuse(
      'FRONT_MATTER_TOO_LARGE',
      `more than ${frontMatterLimit} bytes of YAML: shorten it, or move parts into the body`,
      firstLine,
    );
  if (end === undefined)
    return refuse('FRONT_MATTER_UNCLOSED', 'no line that is exactly "---" ends the front matter', firstLine);
  const control = controlCharacter.exec(yaml);
  if (control !== null) {
    const line = firstLine + yaml.slice(0, control.index).split('\n').length;
    const point = control[0].codePointAt(0) ?? 0;
    const name = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
    return refuse('CONTROL_CHARACTER', `the front matter holds the control character ${name}`, line);
  }
  if (!read.ok) {
    const { code, message, line } = read.problem;
    return refuse(code, message, firstLine + line, isInAccessField(yaml, line));
  }
  const { front, repaired } = read;
  const file = { front, repaired, body: text.slice(start + end), yamlLine: firstLine + 1 };
  return { ok: true, file, warnings };
}

function openingProblem(head: string): [code: string, message: string] {
  const line = (/^[^\r\n]*/.exec(head.slice(0, 200))?.[0] ?? '').slice(0, 40);
  const found = `found ${JSON.stringify(line)}:`;
  return /^---[ \t]*[A-Za-z]/.test(line)
    ? ['FRONT_MATTER_LANGUAGE', `${found} front matter is YAML and begins with a line that is exactly "---"`]
    : ['FRONT_MATTER_MISSING', `${found} a skill begins with a line that is exactly "---"`];
}

/** `yaml` has LF line ends; `end` is where the body begins, absent if no line closes the front matter. */
type Split = Readonly<{ yaml: string; end: number | undefined; read: RepairedYaml }>;

/** gray-matter splits, and parses with our YAML as its only engine. It is loaded when the first file needs it. */
function readByLibrary(head: string): Split {
  const grayMatter = require('gray-matter') as typeof matter;
  // Always with options: without them gray-matter caches, and a bad file has no error the second time.
  const { matter: written, data } = grayMatter(head, {
    language: 'yaml',
    engines: {
      yaml: (text: string) => readYaml(yamlOf(text)),
      javascript: refused,
      json: refused,
      coffee: refused,
    },
  });
  const yaml = yamlOf(written);
  const rest = head.slice('---'.length + written.length);
  const closed = closing.exec(rest)?.[0];
  // An engine is not called for comments alone.
  const read = 'ok' in data ? (data as RepairedYaml) : nothing;
  if (closed !== undefined) return { yaml, end: head.length - rest.length + closed.length, read };
  if (rest === '') return { yaml, end: undefined, read };
  const message = 'only the line that ends the front matter begins with "---": indent this one';
  const problem = { code: 'YAML_ERROR', message, line: yaml.split('\n').length };
  return { yaml, end: head.length, read: { ok: false, problem } };
}

const nothing: RepairedYaml = { ok: true, front: new Map(), repaired: [] };

/** A control character is refused later anyway, and could cost the parser much time. */
function readYaml(yaml: string): RepairedYaml {
  return controlCharacter.test(yaml) ? nothing : parseRepairedYaml(yaml);
}

function refused(): object {
  throw new Error('front matter is YAML; nothing else is read');
}

/** Without the rest of the line `---`. A copy: what is kept of it must not keep the whole file in memory. */
function yamlOf(written: string): string {
  const [, yaml = ''] = /^[^\n]*\n([^]*)$/.exec(`${written}\n`) ?? [];
  return Buffer.from(yaml).toString().replaceAll('\r\n', '\n');
}

/** A file of plain lines needs no library (docs/decisions/0021-front-matter.md). */
function readPlainFile(head: string): Split | undefined {
  const [whole = '', before] = /^([^]*?)\n---[ \t]*(?:\r?\n|$)/.exec(head) ?? [];
  const yaml = before === undefined ? '' : yamlOf(before.slice('---'.length));
  const front = before === undefined ? undefined : parsePlainFrontMatter(yaml);
  if (front === undefined || hasMapForText(front)) return undefined;
  return { yaml, end: whole.length, read: { ok: true, front, repaired: [] } };
}

const plainPair = /^([A-Za-z][A-Za-z0-9_-]*):(?: ([^ \t].*))?$/;

/** Begins with a letter or digit; no colon or `#` that YAML could take for its own; no edge space; printable. */
const plainScalar = /^(?:[\p{L}\p{N}](?:[^\s\p{C}:#]|:(?=[^\s\p{C}])|(?<=\S)#| (?=[^\s#]))*)$/u;

const quoted = /^(?:"([^"\\\p{C}]*)"|'([^'\p{C}]*)')$/u;

/**
 * Reads `key: value` lines that every YAML reader reads alike, with one level of indented pairs below a key; undefined
 * for anything else. The result is the YAML parser's.
 */
export function parsePlainFrontMatter(yaml: string): FrontMap | undefined {
  const front = new Map<string, FrontValue>();
  const lines = yaml.endsWith('\n') ? yaml.slice(0, -1).split('\n') : yaml.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const pair = plainPair.exec(lines[at] ?? '');
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

/** Whether the top-level key at or above a line, or anything below that key, grants or restricts something. */
function isInAccessField(yaml: string, line: number): boolean {
  const lines = yaml.split('\n');
  const begins = (text: string): boolean => /^[^\s#-]/.test(text);
  const first = Math.max(0, lines.slice(0, line).findLastIndex(begins));
  const rest = lines.slice(first + 1).findIndex(begins);
  return lines.slice(first, rest === -1 ? undefined : first + 1 + rest).some(isAccessLine);
}

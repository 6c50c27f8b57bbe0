import { createRequire } from 'node:module';
import type matter from 'gray-matter';
import type { Diagnostic } from '../../core/codes.ts';
import { frontFromData } from './front-from-data.ts';
import { hasMapForText, parseRepairedYaml, type RepairedYaml } from './parse-yaml.ts';
import { isAccessLine, type FrontMap } from './read-values.ts';

/** How many bytes of YAML front matter may have (F2). */
export const frontMatterLimit = 8 * 1024;

const headLimit = frontMatterLimit + 2 * 1024;

type FrontMatter = Readonly<{
  front: FrontMap;
  /** Keys whose values had to be quoted to be valid YAML (F4). */
  repaired: readonly string[];
  body: string;
  /** The line of the file on which the YAML begins, counted from 1. */
  yamlLine: number;
}>;

type FrontMatterResult = Readonly<{ warnings: readonly Diagnostic[] }> &
  (
    | Readonly<{ ok: true; file: FrontMatter }>
    /** `accessBroken`: what can't be read may grant or restrict something (D7). */
    | Readonly<{ ok: false; problem: Diagnostic; accessBroken: boolean }>
  );

const require = createRequire(import.meta.url);
const opening = /^---[ \t]*(?:\r?\n|$)/;
const closing = /^\n---[ \t]*(?:\r?\n|$)/;

/** All characters that YAML does not call printable. */
const controlCharacter =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u0084\u0086-\u009f\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/**
 * `positions`: whether lines and sources of values are needed. Without them most files are read in a tenth of the time.
 */
type ReadOptions = Readonly<{ positions: boolean }>;

/** Splits a file, or its first part, into front matter and body (F2–F4). Never throws and evaluates nothing. */
export function readFrontMatter(text: string, options: ReadOptions = { positions: true }): FrontMatterResult {
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
  // This comes before gray-matter, because another word on this line would make it select another engine.
  if (!opening.test(head)) return refuse(...openingProblem(head), firstLine);
  const { yaml, end, read } = split(head, options);
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

/** `yaml` has LF line ends. `end` is where the body begins; undefined if the front matter is not closed. */
type Split = Readonly<{ yaml: string; end: number | undefined; read: RepairedYaml }>;

/**
 * gray-matter finds the front matter and parses it. If that fails or tells too little, or positions are needed, `yaml`
 * reads it. Both libraries are loaded on first use.
 */
function split(head: string, { positions }: ReadOptions): Split {
  const parsed = positions ? undefined : find(head);
  const { written } = parsed ?? find(head, () => ({})) ?? { written: '' };
  const yaml = yamlOf(written);
  const rest = head.slice('---'.length + written.length);
  const closed = closing.exec(rest)?.[0];
  const read = (parsed && readData(parsed.data, yaml)) ?? readYaml(yaml);
  if (closed !== undefined) return { yaml, end: head.length - rest.length + closed.length, read };
  if (rest === '') return { yaml, end: undefined, read };
  const message = 'only the line that ends the front matter begins with "---": indent this one';
  const problem = { code: 'YAML_ERROR', message, line: yaml.split('\n').length };
  return { yaml, end: head.length, read: { ok: false, problem } };
}

/** `written` is the text between the delimiters. Undefined if gray-matter can't parse it. */
function find(head: string, yaml?: () => object): Readonly<{ written: string; data: unknown }> | undefined {
  const grayMatter = require('gray-matter') as typeof matter;
  const others = { javascript: refused, json: refused, coffee: refused };
  try {
    // Called with options, gray-matter keeps no cache. Its cache would hide the error of a bad file the second time.
    const { matter: written, data } = grayMatter(head, {
      language: 'yaml',
      engines: yaml === undefined ? others : { ...others, yaml },
    });
    return { written, data };
  } catch {
    return undefined;
  }
}

const nothing: RepairedYaml = { ok: true, front: new Map(), repaired: [] };

function readData(data: unknown, yaml: string): RepairedYaml | undefined {
  const front = frontFromData(data, yaml);
  return front === undefined || hasMapForText(front) ? undefined : { ok: true, front, repaired: [] };
}

/** Does not parse control characters, which are refused later and could be slow to parse. */
function readYaml(yaml: string): RepairedYaml {
  return controlCharacter.test(yaml) ? nothing : parseRepairedYaml(yaml);
}

function refused(): object {
  throw new Error('front matter is YAML; nothing else is read');
}

/** The YAML without the rest of the `---` line. It is a copy, so that the whole file is not kept in memory. */
function yamlOf(written: string): string {
  const [, yaml = ''] = /^[^\n]*\n([^]*)$/.exec(`${written}\n`) ?? [];
  return Buffer.from(yaml).toString().replaceAll('\r\n', '\n');
}

/** Whether a line belongs to an access key: the top-level key of that line, or anything below it. */
function isInAccessField(yaml: string, line: number): boolean {
  const lines = yaml.split('\n');
  const begins = (text: string): boolean => /^[^\s#-]/.test(text);
  const first = Math.max(0, lines.slice(0, line).findLastIndex(begins));
  const rest = lines.slice(first + 1).findIndex(begins);
  return lines.slice(first, rest === -1 ? undefined : first + 1 + rest).some(isAccessLine);
}

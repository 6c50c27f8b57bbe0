import { createRequire } from 'node:module';
import type matter from 'gray-matter';
import type { Diagnostic } from '../../core/codes.ts';
import { frontFromData } from './front-from-data.ts';
import { parseRepairedYaml, parseYamlFrontMatter, type RepairedYaml } from './parse-yaml.ts';
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
// eslint-disable-next-line no-control-regex
const controlCharacter = /[\u0000-\u0008\u000b-\u001f\u007f-\u0084\u0086-\u009f\ufeff\ufffe\uffff]/;

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
  const { matter: written, data } = find(head, options);
  const yaml = yamlOf(written);
  if (Buffer.byteLength(yaml) > frontMatterLimit)
    return refuse(
      'FRONT_MATTER_TOO_LARGE',
      `more than ${frontMatterLimit} bytes of YAML: shorten it, or move parts into the body`,
      firstLine,
    );
  const rest = head.slice('---'.length + written.length);
  if (rest === '')
    return refuse('FRONT_MATTER_UNCLOSED', 'no line that is exactly "---" ends the front matter', firstLine);
  const control = controlCharacter.exec(yaml);
  if (control !== null) {
    const line = firstLine + yaml.slice(0, control.index).split('\n').length;
    const name = `U+${yaml.charCodeAt(control.index).toString(16).toUpperCase().padStart(4, '0')}`;
    return refuse('CONTROL_CHARACTER', `the front matter holds the control character ${name}`, line);
  }
  const closed = closing.exec(rest)?.[0] ?? '';
  const read = closed === '' ? endsBadly(yaml) : readYaml(data, yaml);
  if (!read.ok) {
    const { code, message, line } = read.problem;
    return refuse(code, message, firstLine + line, isInAccessField(yaml, line));
  }
  const { front, repaired } = read;
  const body = text.slice(start + '---'.length + written.length + closed.length);
  return { ok: true, file: { front, repaired, body, yamlLine: firstLine + 1 }, warnings };
}

function openingProblem(head: string): [code: string, message: string] {
  const found = `found ${JSON.stringify(head.slice(0, 40).replace(/[\r\n][^]*/, ''))}:`;
  return /^---[ \t]*[A-Za-z]/.test(head)
    ? ['FRONT_MATTER_LANGUAGE', `${found} front matter is YAML and begins with a line that is exactly "---"`]
    : ['FRONT_MATTER_MISSING', `${found} a skill begins with a line that is exactly "---"`];
}

const noData = (): object => ({});

/**
 * gray-matter finds the front matter and parses it. What it cannot parse, and what is read with positions, has no data.
 * It is loaded on first use.
 */
function find(head: string, { positions }: ReadOptions): Readonly<{ matter: string; data: unknown }> {
  const grayMatter = require('gray-matter') as typeof matter;
  const engines = { javascript: noData, json: noData, coffee: noData };
  // Called with options, gray-matter keeps no cache. Its cache would hide the error of a bad file the second time.
  const split = (yaml?: typeof noData): Readonly<{ matter: string; data: unknown }> =>
    grayMatter(head, { engines: yaml === undefined ? engines : { ...engines, yaml } });
  try {
    return split(positions ? noData : undefined);
  } catch {
    return split(noData);
  }
}

/** If js-yaml's data tells too little, `yaml` reads the text. */
function readYaml(data: unknown, yaml: string): RepairedYaml {
  const front = frontFromData(data, yaml);
  return front === undefined ? parseRepairedYaml(yaml) : { ok: true, front, repaired: [] };
}

function endsBadly(yaml: string): RepairedYaml {
  const message = 'only the line that ends the front matter begins with "---": indent this one';
  return { ok: false, problem: { code: 'YAML_ERROR', message, line: yaml.split('\n').length } };
}

/** The YAML without the rest of the `---` line. It is a copy, so that the whole file is not kept in memory. */
function yamlOf(written: string): string {
  const lines = `${written}\n`;
  const yaml = lines.slice(lines.indexOf('\n') + 1);
  return Buffer.from(yaml).toString().replaceAll('\r\n', '\n');
}

/**
 * Whether what is wrong at a line may be in an access key: that line's top-level key, or one that is no YAML by itself,
 * because an open bracket or quote is often found only below.
 */
function isInAccessField(yaml: string, line: number): boolean {
  const fieldsOf = (text: string): readonly string[] => text.split(/\n(?=[^\s#-])/);
  const last = fieldsOf(yaml.split('\n').slice(0, line).join('\n')).length - 1;
  return fieldsOf(yaml).some(
    (field, at) => field.split('\n').some(isAccessLine) && (at === last || !parseYamlFrontMatter(field).ok),
  );
}

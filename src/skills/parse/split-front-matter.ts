import type { Diagnostic } from '../../core/diagnostic.ts';

/** YAML between the two `---` lines is at most this many bytes (F2). */
export const frontMatterLimit = 8 * 1024;

/** A skill file in two: the YAML with LF line ends, the body as it was written. */
export type SplitFile = Readonly<{
  yaml: string;
  body: string;
  /** Line of the file on which the YAML begins, 1-based. */
  yamlLine: number;
  warnings: readonly Diagnostic[];
}>;

export type SplitResult =
  Readonly<{ ok: true; file: SplitFile }> | Readonly<{ ok: false; diagnostic: Diagnostic }>;

/** Finds the front matter by its two lines of exactly `---`; nothing of it is interpreted (F2). `text` may be the first part of a longer file. */
export function splitFrontMatter(text: string): SplitResult {
  const warnings: Diagnostic[] = [];
  let start = 0;
  if (text.startsWith('\uFEFF')) {
    warnings.push(warning('BYTE_ORDER_MARK', 'the file begins with a byte order mark; save it without one'));
    start = 1;
  }
  const blank = /^(?:[ \t]*\r?\n)+/.exec(text.slice(start, start + frontMatterLimit))?.[0] ?? '';
  if (blank !== '') {
    warnings.push(warning('BLANK_LINES_FIRST', 'blank lines before the first "---"; remove them'));
    start += blank.length;
  }
  const firstLine = blank.split('\n').length;
  const open = delimiter.exec(text.slice(start, start + 1024));
  if (open === null) return refuse(...openingProblem(text.slice(start, start + 200)), firstLine);
  const yamlStart = start + open[0].length;
  const close = closingLine(text, yamlStart);
  if (close === undefined) {
    return refuse('FRONT_MATTER_UNCLOSED', 'no line that is exactly "---" ends the front matter', firstLine);
  }
  const raw = text.slice(yamlStart, close.start);
  const encoded = Buffer.from(raw);
  const size = encoded.length;
  if (size > frontMatterLimit) {
    return refuse('FRONT_MATTER_TOO_LARGE', `${size} bytes of YAML; at most ${frontMatterLimit}`, firstLine);
  }
  // A copy: what is kept of it must not keep the whole file in memory.
  const yaml = encoded.toString().replaceAll('\r\n', '\n');
  const control = controlCharacter.exec(yaml);
  if (control !== null) {
    const line = firstLine + 1 + yaml.slice(0, control.index).split('\n').length - 1;
    const point = control[0].codePointAt(0) ?? 0;
    const name = `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;
    return refuse('CONTROL_CHARACTER', `the front matter holds the control character ${name}`, line);
  }
  return {
    ok: true,
    file: { yaml, body: text.slice(close.end), yamlLine: firstLine + 1, warnings },
  };
}

const delimiter = /^---[ \t]*(?:\r?\n|$)/;

/** Everything YAML does not call printable. */
const controlCharacter =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u0084\u0086-\u009f\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

function closingLine(text: string, from: number): Readonly<{ start: number; end: number }> | undefined {
  for (let at = from; at < text.length;) {
    const line = text.startsWith('---', at) ? delimiter.exec(text.slice(at, at + 1024)) : null;
    if (line !== null) return { start: at, end: at + line[0].length };
    const next = text.indexOf('\n', at);
    if (next === -1) return undefined;
    at = next + 1;
  }
  return undefined;
}

function openingProblem(start: string): [code: string, message: string] {
  const line = (/^[^\r\n]*/.exec(start)?.[0] ?? '').slice(0, 40);
  return /^---[ \t]*[A-Za-z]/.test(line)
    ? [
        'FRONT_MATTER_LANGUAGE',
        `found ${JSON.stringify(line)}: front matter is YAML and begins with a line that is exactly "---"`,
      ]
    : [
        'FRONT_MATTER_MISSING',
        `found ${JSON.stringify(line)}: a skill begins with a line that is exactly "---"`,
      ];
}

function warning(code: string, message: string): Diagnostic {
  return { level: 'warning', code, message, line: 1 };
}

function refuse(code: string, message: string, line: number): SplitResult {
  return { ok: false, diagnostic: { level: 'error', code, message, line } };
}

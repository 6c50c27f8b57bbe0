import { basename, dirname } from 'node:path';
import type { Diagnostic, ErrorCode } from '../../core/codes.ts';
import type { Pin, Skill } from '../../core/skill.ts';
import { decodeText } from '../../lib/text/text.ts';
import { pinBroken, readPinned } from '../install/lock-check.ts';
import type { LastGood } from '../last-good.ts';
import { readStart } from '../skill-store.ts';

/** YAML between the two `---` lines is at most this many bytes (F2). */
export const frontMatterLimit = 8 * 1024;

/** A body is at most this many bytes (F7). */
export const bodyLimit = 200_000;

/** Of a file, enough for front matter, the lines around it and a body over its limit. */
export const bodyReadLimit = bodyLimit + 4 * frontMatterLimit;

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

export type Body =
  | Readonly<{
      ok: true;
      text: string;
      /** Cut at 200,000 bytes: warning CONTENT_TRUNCATED (F7). */
      truncated: boolean;
      /** The file is broken now; this is its last good version (F9). */
      kept: boolean;
    }>
  | Readonly<{ ok: false; code: ErrorCode; message: string }>;

/**
 * The instructions of a skill as its file holds them now; where that is broken, those of the last good version (F7, F9).
 * Of an installed skill they are the bytes that were agreed to, or none (D6).
 */
export async function readBody(
  skill: Pick<Skill, 'path' | 'root' | 'name' | 'pin'>,
  lastGood?: Pick<LastGood, 'read'>,
): Promise<Body> {
  if (skill.pin !== undefined) return readPinnedBody(skill.path, skill.pin);
  const stored = readStart(skill.root ?? dirname(skill.path), skill.path, bodyReadLimit);
  const now = stored.ok ? bodyOf(stored.bytes, stored.cut) : stored.diagnostic;
  if ('text' in now) return { ok: true, ...now, kept: false };
  const keptBytes = lastGood?.read(skill.path);
  const kept = keptBytes === undefined ? undefined : bodyOf(keptBytes, keptBytes.length >= bodyReadLimit);
  if (kept !== undefined && 'text' in kept) return { ok: true, ...kept, kept: true };
  return { ok: false, code: 'SKILL_MISCONFIGURED', message: `${skill.name}: ${now.message}` };
}

function readPinnedBody(path: string, pin: Pin): Body {
  const file = readPinned(dirname(path), pin, basename(path));
  if (!file.ok) return { ok: false, code: 'SKILL_UNAVAILABLE', message: pinBroken(pin, file.problem) };
  const cut = file.bytes.length > bodyReadLimit;
  const body = bodyOf(file.bytes.subarray(0, bodyReadLimit), cut);
  if ('text' in body) return { ok: true, ...body, kept: false };
  return { ok: false, code: 'SKILL_MISCONFIGURED', message: `${pin.name}: ${body.message}` };
}

function bodyOf(
  bytes: Uint8Array,
  cut: boolean,
): Readonly<{ text: string; truncated: boolean }> | Diagnostic {
  const text = decodeText(bytes, cut);
  if (text === undefined) return { level: 'error', code: 'NOT_UTF8', message: 'the file is not UTF-8' };
  const split = splitFrontMatter(text);
  if (!split.ok) return split.diagnostic;
  const body = split.file.body.trim();
  if (body === '') return { level: 'error', code: 'BODY_EMPTY', message: 'the body is empty' };
  const encoded = Buffer.from(body);
  if (encoded.length <= bodyLimit) return { text: body, truncated: cut };
  return { text: decodeText(encoded.subarray(0, bodyLimit), true) ?? '', truncated: true };
}

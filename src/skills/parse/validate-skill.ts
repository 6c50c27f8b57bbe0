import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Diagnostic } from '../../core/codes.ts';
import { decodeText } from '../../lib/text/text.ts';
import { readFrontMatter } from './front-matter.ts';
import { parseSkill } from './parse-skill.ts';
import { bySnakeCase, knownFields, readText, type FrontMap } from './read-values.ts';
import { nameProblems } from './skill-definition.ts';
import { findStrictProblems } from './validate-skill-strict.ts';
import { isSkillFileName } from '../scan-root.ts';

const depthLimit = 16;

type ValidatedFile = Readonly<{ path: string; directory?: string; bytes: Uint8Array }>;

/** By the open specification, with unknown keys and flow style as warnings; `strict`: exactly what the reference validator refuses (F5). */
export function validateSkill(
  file: ValidatedFile,
  options: Readonly<{ strict?: boolean }> = {},
): readonly Diagnostic[] {
  const { path, directory, bytes } = file;
  if (options.strict !== true) return validateBySpecification(file);
  const text = decodeText(bytes, false);
  if (text === undefined)
    return [{ level: 'error', code: 'NOT_UTF8', message: 'the file is not UTF-8', path }];
  const folder = basename(directory ?? path.replace(/\.md$/i, ''));
  return findStrictProblems(text, folder).map((problem) => ({ level: 'error', path, ...problem }));
}

const errorsHere: ReadonlySet<string> = new Set([
  'BLANK_LINES_FIRST',
  'YAML_REPAIRED',
  'NAME_MISSING',
  'DESCRIPTION_MISSING',
  'FIELD_INVALID',
]);
/** Used in part or changed: warnings, though not allowed either (F5). */
const departures: ReadonlySet<string> = new Set(['DESCRIPTION_TRUNCATED', 'METADATA_AS_TEXT']);

export function refusedWhenStrict({ level, code }: Diagnostic): boolean {
  return level === 'error' || departures.has(code);
}

const saidBetter: ReadonlySet<string> = new Set(['NAME_INVALID', 'NAME_TOO_LONG', 'NAME_DIR_MISMATCH']);

function validateBySpecification({ path, directory, bytes }: ValidatedFile): readonly Diagnostic[] {
  const parsed = parseSkill({ path, directory, bytes, cut: false, origin: 'workspace' });
  const found = parsed.ok ? parsed.definition.diagnostics : parsed.diagnostics;
  const problems: Diagnostic[] = found
    .filter(({ code }) => !saidBetter.has(code))
    .map((diagnostic) => (errorsHere.has(diagnostic.code) ? { ...diagnostic, level: 'error' } : diagnostic));
  const read = readFrontMatter(decodeText(bytes, false) ?? '');
  if (!read.ok) return problems;
  const { front, yamlLine } = read.file;
  const add = (level: Diagnostic['level'], code: string, field: string, message: string): void => {
    const line = (front.get(field)?.line ?? 1) + yamlLine - 1;
    problems.push({ level, code, message, path, field, line });
  };
  checkFields(front, directory === undefined ? undefined : basename(directory), add);
  return problems;
}

function checkFields(
  front: FrontMap,
  folder: string | undefined,
  add: (level: Diagnostic['level'], code: string, field: string, message: string) => void,
): void {
  const { fields } = bySnakeCase(front);
  const name = textOf(fields, 'name');
  if (name !== undefined && name !== '') {
    for (const problem of nameProblems(name, folder)) add('error', 'NAME_INVALID', 'name', problem);
  }
  const compatibility = textOf(fields, 'compatibility');
  const length = [...(compatibility ?? 'x')].length;
  if (length < 1 || length > 500)
    add('error', 'FIELD_INVALID', 'compatibility', `${length} characters; write 1 to 500`);
  for (const [key, value] of front) {
    if (!knownFields.has(key.replaceAll('-', '_')))
      add('warning', 'FIELD_UNKNOWN', key, `"${key}" is no known key; the specification has metadata for it`);
    if (value.kind !== 'text' && value.flow)
      add('warning', 'YAML_FLOW', key, `"${key}" uses [ ] or { }; the specification wants one item a line`);
  }
}

function textOf(fields: FrontMap, key: string): string | undefined {
  const value = fields.get(key);
  const text = value === undefined ? undefined : readText(value);
  return text?.ok === true ? text.value : undefined;
}

/** Valid if no finding is an error. */
type Validation = Readonly<{ path: string; valid: boolean; problems: readonly Diagnostic[] }>;

/**
 * A file, a skill folder, or a tree, by path order (F5). If there is nothing, one result says so. Skips dot entries,
 * `node_modules` and linked folders.
 */
export function validateTree(
  path: string,
  options: Readonly<{ strict?: boolean }> = {},
): readonly Validation[] {
  const start = resolve(path);
  const stats = statSync(start, { throwIfNoEntry: false });
  if (stats === undefined) return [nothingAt(start, 'there is no such file or folder')];
  if (!stats.isDirectory()) return [validateFile(start, options)];
  const files = findSkillFiles(start, 0);
  if (files.length === 0) return [nothingAt(start, 'no SKILL.md in this folder')];
  return files.map((file) => validateFile(file, options));
}

function validateFile(path: string, options: Readonly<{ strict?: boolean }>): Validation {
  const directory = isSkillFileName(basename(path)) ? { directory: dirname(path) } : {};
  const problems = validateSkill({ path, ...directory, bytes: readFileSync(path) }, options);
  return { path, valid: problems.every(({ level }) => level !== 'error'), problems };
}

function findSkillFiles(folder: string, depth: number): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  const skillFile = entries.find(({ name }) => isSkillFileName(name));
  const own = skillFile !== undefined ? [skillFile.name] : depth === 0 ? flatSkills(folder, entries) : [];
  const inner = entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .flatMap(({ name }) => (depth < depthLimit ? findSkillFiles(join(folder, name), depth + 1) : []));
  return [...own.map((name) => join(folder, name)), ...inner];
}

/** Markdown that begins like a skill; no README. */
function flatSkills(
  folder: string,
  entries: readonly Readonly<{ name: string; isFile(): boolean }>[],
): string[] {
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .filter(({ name }) => readFileSync(join(folder, name), 'utf8').startsWith('---'))
    .map(({ name }) => name);
}

function nothingAt(path: string, message: string): Validation {
  return { path, valid: false, problems: [{ level: 'error', code: 'SKILL_NOT_FOUND', message, path }] };
}

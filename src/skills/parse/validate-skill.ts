import { readdirSync, statSync, type Dirent } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Diagnostic } from '../../core/codes.ts';
import { decodeText } from '../../lib/text/text.ts';
import { readFrontMatter } from './front-matter.ts';
import { descriptionLimit, parseSkill } from './parse-skill.ts';
import { keyName, knownFields } from './known-keys.ts';
import { bySnakeCase, metadataDialects, readText, type FrontMap } from './read-values.ts';
import { nameProblems } from './skill-definition.ts';
import { findStrictProblems } from './validate-skill-strict.ts';
import { isSkillFileName } from '../scan-root.ts';
import { readStart } from '../skill-store.ts';

const depthLimit = 16;

type ValidatedFile = Readonly<{
  path: string;
  directory?: string;
  bytes: Uint8Array;
  /** True if the file has more bytes than these. */
  cut?: boolean;
}>;

/**
 * Validates a skill for `skillet skill validate` and `[skills] strict`. It follows the open specification, but unknown
 * keys, flow style and a missing name are less than errors. `strict`: exactly what the reference validator refuses
 * (F5).
 */
export function validateSkill(
  file: ValidatedFile,
  options: Readonly<{ strict?: boolean }> = {},
): readonly Diagnostic[] {
  const { path, directory, bytes, cut = false } = file;
  if (options.strict !== true) return validateBySpecification(file);
  const text = decodeText(bytes, cut);
  if (text === undefined)
    return [{ level: 'error', code: 'NOT_UTF8', message: 'the file is not UTF-8', path }];
  const folder = basename(directory ?? path.replace(/\.md$/i, ''));
  return findStrictProblems(text, folder).map((problem) => ({ level: 'error', path, ...problem }));
}

export function isValid(problems: readonly Diagnostic[]): boolean {
  return problems.every(({ level }) => level !== 'error');
}

/** The bot loads files with these as warnings; the specification refuses them. */
const errorsHere: ReadonlySet<string> = new Set([
  'BLANK_LINES_FIRST',
  'YAML_REPAIRED',
  'NAME_MISSING',
  'DESCRIPTION_MISSING',
  'FIELD_INVALID',
]);

/** `checkFields` reports these in the words of the specification. */
const saidBetter: ReadonlySet<string> = new Set([
  'NAME_INVALID',
  'NAME_TOO_LONG',
  'NAME_DIR_MISMATCH',
  'DESCRIPTION_TRUNCATED',
  'METADATA_AS_TEXT',
]);

function validateBySpecification({
  path,
  directory,
  bytes,
  cut = false,
}: ValidatedFile): readonly Diagnostic[] {
  const parsed = parseSkill({ path, directory, bytes, cut, origin: 'workspace' });
  const found = parsed.ok ? parsed.definition.diagnostics : parsed.diagnostics;
  const problems: Diagnostic[] = found
    .filter(({ code }) => !saidBetter.has(code))
    .map((diagnostic) =>
      diagnostic.level === 'warning' && errorsHere.has(diagnostic.code)
        ? { ...diagnostic, level: 'error' }
        : diagnostic,
    );
  const read = readFrontMatter(decodeText(bytes, cut) ?? '');
  if (!read.ok) return problems;
  const { front, yamlLine } = read.file;
  const add = (
    level: Diagnostic['level'],
    code: string,
    field: string,
    message: string,
    at?: number,
  ): void => {
    const line = (at ?? front.get(field)?.line ?? 1) + yamlLine - 1;
    problems.push({ level, code, message, path, field, line });
  };
  checkFields(front, directory === undefined ? undefined : basename(directory), add);
  return problems;
}

function checkFields(
  front: FrontMap,
  folder: string | undefined,
  add: (level: Diagnostic['level'], code: string, field: string, message: string, line?: number) => void,
): void {
  const { fields } = bySnakeCase(front);
  const name = textOf(fields, 'name');
  if (name !== undefined && name !== '') {
    for (const problem of nameProblems(name, folder)) add('error', 'NAME_INVALID', 'name', problem);
  }
  const described = [...(textOf(fields, 'description') ?? '')].length;
  if (described > descriptionLimit)
    add(
      'error',
      'DESCRIPTION_TOO_LONG',
      'description',
      `${described} characters; the specification allows ${descriptionLimit}: shorten it`,
    );
  const metadata = fields.get('metadata');
  for (const [key, entry] of metadata?.kind === 'map' ? metadata.entries : [])
    if (entry.kind !== 'text' && !metadataDialects.includes(key))
      add(
        'error',
        'METADATA_NOT_TEXT',
        'metadata',
        `metadata: "${key}" is a ${entry.kind}; the specification wants a text there`,
        entry.line,
      );
  const compatibility = textOf(fields, 'compatibility');
  const length = [...(compatibility ?? 'x')].length;
  if (length < 1 || length > 500)
    add('error', 'FIELD_INVALID', 'compatibility', `${length} characters; write 1 to 500`);
  for (const [key, value] of front) {
    if (!knownFields.has(keyName(key)))
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

type Validation = Readonly<{ path: string; valid: boolean; problems: readonly Diagnostic[] }>;

/**
 * Validates a file, a skill folder, or a tree, in path order (F5). If nothing is there, one result says so. It skips
 * dot entries, `node_modules` and linked folders. What can't be read is a result, too; it never throws for what lies
 * there.
 */
export function validateTree(
  path: string,
  options: Readonly<{ strict?: boolean }> = {},
): readonly Validation[] {
  const start = resolve(path);
  const kind = kindAt(start);
  if (kind === 'nothing') return [refusedAt(start, 'SKILL_NOT_FOUND', 'there is no such file or folder')];
  if (kind !== 'folder') return [validateFile(start, options)];
  const found = findSkillFiles(start, 0);
  if (found.length === 0) return [refusedAt(start, 'SKILL_NOT_FOUND', 'no SKILL.md in this folder')];
  return found.map((one) => (typeof one === 'string' ? validateFile(one, options) : one));
}

/** How many bytes of a file are read; front matter ends far before that. */
const readLimit = 1024 * 1024;

function validateFile(path: string, options: Readonly<{ strict?: boolean }>): Validation {
  const read = readStart('/', path, readLimit);
  if (!read.ok) return { path, valid: false, problems: [read.diagnostic] };
  const directory = isSkillFileName(basename(path)) ? { directory: dirname(path) } : {};
  const problems = [
    ...validateSkill({ path, ...directory, bytes: read.bytes, cut: read.cut }, options),
    ...(read.cut ? [tooLong(path)] : []),
  ];
  return { path, valid: isValid(problems), problems };
}

function tooLong(path: string): Diagnostic {
  const message = `has over ${readLimit} bytes: the bot uses the first of them only, and the rest is not judged`;
  return { level: 'warning', code: 'CONTENT_TRUNCATED', message, path };
}

function findSkillFiles(folder: string, depth: number): readonly (string | Validation)[] {
  const listed = entriesOf(folder);
  if (typeof listed === 'string') return [refusedAt(folder, 'UNREADABLE', `cannot be read: ${listed}`)];
  const entries = [...listed].sort((a, b) => (a.name < b.name ? -1 : 1));
  const skillFile = entries.find(({ name }) => isSkillFileName(name));
  const own = skillFile !== undefined ? [skillFile.name] : depth === 0 ? flatSkills(folder, entries) : [];
  const inner = entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .filter((entry) => entry !== skillFile)
    .flatMap(({ name }) => (depth < depthLimit ? findSkillFiles(join(folder, name), depth + 1) : []));
  return [...own.map((name) => join(folder, name)), ...inner];
}

/** Markdown files that begin like a skill or can't be read. A README does not. */
function flatSkills(folder: string, entries: readonly Dirent[]): readonly string[] {
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map(({ name }) => name)
    .filter((name) => {
      const read = readStart('/', join(folder, name), 3);
      return !read.ok || Buffer.from(read.bytes).toString('latin1') === '---';
    });
}

function entriesOf(folder: string): readonly Dirent[] | string {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error;
    return error.message;
  }
}

function kindAt(path: string): 'folder' | 'nothing' | 'other' {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return 'nothing';
    return stats.isDirectory() ? 'folder' : 'other';
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error;
    return 'other';
  }
}

function refusedAt(path: string, code: string, message: string): Validation {
  return { path, valid: false, problems: [{ level: 'error', code, message, path }] };
}

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { isSkillFileName } from '../scan-root.ts';
import { validateSkill } from './validate-skill.ts';

/** One validated file and everything found in it; valid when no finding is an error. */
export type Validation = Readonly<{ path: string; valid: boolean; problems: readonly Diagnostic[] }>;

/** Folders inside one another, at most. */
const depthLimit = 16;

/**
 * Validates a file, a skill folder or every skill in a tree, by path order (F5). Where there is nothing to validate,
 * one result says so. Dot entries, `node_modules` and links to folders are not entered.
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

/** Markdown files that begin like a skill; a README is none. */
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

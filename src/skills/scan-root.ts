import { readdirSync, realpathSync, type Dirent } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Diagnostic } from '../core/codes.ts';
import { createYieldToEventLoop } from '../lib/async/mutex.ts';

type FoundSkill = Readonly<{ path: string; directory?: string; diagnostics: readonly Diagnostic[] }>;

type RootScan = Readonly<{
  skills: readonly FoundSkill[];
  diagnostics: readonly Diagnostic[];
  /** All folders read, those of skills included. */
  folders: readonly string[];
}>;

/** Folders below the root, at most (D4). */
export const scanDepth = 4;
/** Of a root and its categories, without the content of skills (D4). */
const entryLimit = 10_000;
const besides = /^(?:readme|license|changelog|contributing|agents|claude)\.md$/i;

/** Makes its folder a skill (F1). */
export function isSkillFileName(name: string): boolean {
  return name === 'SKILL.md' || name === 'skill.md' || name === 'Skill.md';
}

/** Directly in a root (F1). */
export function isFlatSkill(name: string): boolean {
  return name.endsWith('.md') && !besides.test(name);
}

/** Not inside skills, dot entries or `node_modules`, and never outside the root by a link (D4, D5). A missing root has none. */
export async function scanRoot(root: string): Promise<RootScan> {
  const skills: FoundSkill[] = [];
  const diagnostics: Diagnostic[] = [];
  const folders: string[] = [];
  const rootEntries = readEntries(root, diagnostics);
  if (rootEntries === undefined) return { skills, diagnostics, folders };
  const realRoot = realpathSync.native(root);
  const pace = createYieldToEventLoop();
  let entryCount = 0;

  const escapes = (path: string, what: string): boolean => {
    const real = realPathOf(path);
    if (real !== undefined && isInside(realRoot, real)) return false;
    const message =
      real === undefined
        ? `${what} is a broken link`
        : `${what} leads out of its root, to ${real}; it is not read`;
    diagnostics.push({ level: 'error', code: 'SYMLINK_ESCAPE', message, path });
    return true;
  };

  const enter = async (folder: string, entries: readonly Dirent[], depth: number): Promise<void> => {
    folders.push(folder);
    await pace();
    const skillFile = depth === 0 ? undefined : pickSkillFile(entries);
    const noFile = skillFile === undefined ? entries.find(isSkillFolder) : undefined;
    if (noFile !== undefined && depth > 0) {
      const message = 'is a folder: a skill needs a file of that name';
      diagnostics.push({ level: 'error', code: 'UNREADABLE', message, path: join(folder, noFile.name) });
    }
    if (skillFile !== undefined) {
      const path = join(folder, skillFile.name);
      if (skillFile.isSymbolicLink() && escapes(path, skillFile.name)) return;
      skills.push({ path, directory: folder, diagnostics: spelling(path, skillFile.name) });
      return;
    }
    for (const entry of sorted(entries)) {
      entryCount += 1;
      if (entryCount > entryLimit) return;
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const path = join(folder, entry.name);
      const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && !entry.name.endsWith('.md'));
      if (!isFolder) {
        if (depth === 0 && isFlatSkill(entry.name)) addFlat(entry, path);
        continue;
      }
      if (depth >= scanDepth || (entry.isSymbolicLink() && escapes(path, entry.name))) continue;
      const inner = readEntries(path, diagnostics);
      if (inner !== undefined) await enter(path, inner, depth + 1);
    }
  };

  const addFlat = (entry: Dirent, path: string): void => {
    if (isSkillFileName(entry.name)) {
      const message = "lies directly in a root; put it into a folder with the skill's name";
      diagnostics.push({ level: 'warning', code: 'SKILL_IN_ROOT', message, path });
    } else if (!entry.isSymbolicLink() || !escapes(path, entry.name)) skills.push({ path, diagnostics: [] });
  };

  await enter(root, rootEntries, 0);
  if (entryCount > entryLimit) {
    const message = `more than ${entryLimit} entries; the rest is not looked at`;
    diagnostics.push({ level: 'error', code: 'ROOT_TOO_LARGE', message, path: root });
  }
  return { skills, diagnostics, folders };
}

export function isInside(folder: string, path: string): boolean {
  if (path === folder) return true;
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !way.startsWith(sep);
}

function readEntries(folder: string, diagnostics: Diagnostic[]): readonly Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code !== 'EACCES' && code !== 'EPERM' && code !== 'ELOOP') throw error;
    diagnostics.push({
      level: 'error',
      code: 'UNREADABLE',
      message: `cannot be read: ${code}`,
      path: folder,
    });
    return undefined;
  }
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

function pickSkillFile(entries: readonly Dirent[]): Dirent | undefined {
  return ['SKILL.md', 'skill.md', 'Skill.md']
    .map((name) => entries.find((entry) => entry.name === name && !entry.isDirectory()))
    .find((entry) => entry !== undefined);
}

function isSkillFolder(entry: Dirent): boolean {
  return isSkillFileName(entry.name) && entry.isDirectory();
}

function spelling(path: string, name: string): readonly Diagnostic[] {
  if (name === 'SKILL.md') return [];
  return [{ level: 'warning', code: 'FILE_NAME', message: `${name} should be called SKILL.md`, path }];
}

function sorted(entries: readonly Dirent[]): readonly Dirent[] {
  return [...entries].sort((a, b) => (a.name < b.name ? -1 : 1));
}

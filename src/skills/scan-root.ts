import { readdirSync, realpathSync, type Dirent } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { Diagnostic } from '../core/codes.ts';
import { createYieldToEventLoop } from '../lib/async/mutex.ts';
import { skilletHere } from '../core/skillet-here.ts';

type FoundSkill = Readonly<{ path: string; directory?: string; diagnostics: readonly Diagnostic[] }>;

type RootScan = Readonly<{
  skills: readonly FoundSkill[];
  diagnostics: readonly Diagnostic[];
  /** All folders that were read, including those of skills. */
  folders: readonly string[];
}>;

/** How many folders deep below a root skills are looked for (D4). */
export const scanDepth = 4;
/** How many entries of a root and its folders are looked at, without the content of skills (D4). */
const entryLimit = 10_000;
const besides = /^(?:readme|license|changelog|contributing|agents|claude)\.md$/i;

/** Whether a file of this name makes its folder a skill (F1). */
export function isSkillFileName(name: string): boolean {
  return name === 'SKILL.md' || name === 'skill.md' || name === 'Skill.md';
}

/** Whether a file of this name is a skill if it lies directly in a root (F1). */
export function isFlatSkill(name: string): boolean {
  return name.endsWith('.md') && !besides.test(name);
}

/**
 * Finds the skills below a root. It does not look inside skills, dot folders or `node_modules`, and follows no link out
 * of the root (D4, D5). What several links lead to is read once, by its own path if that is in the root. A root that
 * does not exist is empty.
 */
export async function scanRoot(root: string): Promise<RootScan> {
  const skills: FoundSkill[] = [];
  const diagnostics: Diagnostic[] = [];
  const folders: string[] = [];
  const rootEntries = readEntries(root, diagnostics);
  if (rootEntries === undefined) return { skills, diagnostics, folders };
  const realRoot = realpathSync.native(root);
  const pace = createYieldToEventLoop();
  let entryCount = 0;

  /** Real paths of the folders and skill files that were read. */
  const seen = new Set<string>();
  const links: Readonly<{ path: string; depth: number }>[] = [];
  const aliases: string[] = [];

  /** The real path of a link. Undefined if it may not be read or was read already. */
  const follow = (path: string, what: string): string | undefined => {
    const real = realPathOf(path);
    if (real !== undefined && isInside(realRoot, real)) {
      if (!seen.has(real)) return real;
      aliases.push(`${relative(root, path)} → ${relative(realRoot, real) || '.'}`);
      return undefined;
    }
    const message =
      real === undefined
        ? `${what} is a broken link`
        : `${what} leads out of its root, to ${real}; it is not read: copy what it leads to, or install it with "${skilletHere()} skill add ${real}"`;
    diagnostics.push({ level: 'error', code: 'SYMLINK_ESCAPE', message, path });
    return undefined;
  };

  /** Reads a folder. `real` is its path without links; passing it on saves a look at the disk for everything below. */
  const enter = async (
    { folder, real, depth }: Readonly<{ folder: string; real: string; depth: number }>,
    entries: readonly Dirent[],
  ): Promise<void> => {
    folders.push(folder);
    seen.add(real);
    await pace();
    const skillFile = depth === 0 ? undefined : pickSkillFile(entries);
    const noFile = skillFile === undefined ? entries.find(isSkillFolder) : undefined;
    if (noFile !== undefined && depth > 0) {
      const message = 'is a folder: a skill needs a file of that name';
      diagnostics.push({ level: 'error', code: 'UNREADABLE', message, path: join(folder, noFile.name) });
    }
    if (skillFile !== undefined) {
      const path = join(folder, skillFile.name);
      if (skillFile.isSymbolicLink()) links.push({ path, depth });
      else addSkill(path, join(real, skillFile.name), folder);
      return;
    }
    for (const entry of sorted(entries)) {
      entryCount += 1;
      if (entryCount > entryLimit) return;
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink()) {
        if (depth < scanDepth || entry.name.endsWith('.md')) links.push({ path, depth });
        continue;
      }
      if (!entry.isDirectory()) {
        if (depth === 0 && isFlatSkill(entry.name)) addFlat(path, join(real, entry.name));
        continue;
      }
      const inner = depth >= scanDepth ? undefined : readEntries(path, diagnostics);
      if (inner !== undefined)
        await enter({ folder: path, real: join(real, entry.name), depth: depth + 1 }, inner);
    }
  };

  const addSkill = (path: string, real: string, directory: string): void => {
    seen.add(real);
    skills.push({ path, directory, diagnostics: spelling(path, basename(path)) });
  };

  const addFlat = (path: string, real: string): void => {
    if (isSkillFileName(basename(path))) {
      const message = "lies directly in a root; put it into a folder with the skill's name";
      diagnostics.push({ level: 'warning', code: 'SKILL_IN_ROOT', message, path });
      return;
    }
    seen.add(real);
    skills.push({ path, diagnostics: [] });
  };

  /**
   * Follows links after everything real, so that a link to a known folder is recognised. What a link brings may have
   * links again.
   */
  const followLinks = async (): Promise<void> => {
    for (let link = links.shift(); link !== undefined; link = links.shift()) {
      const { path, depth } = link;
      const name = basename(path);
      const isFile = name.endsWith('.md');
      if (isFile && !isSkillFileName(name) && (depth > 0 || !isFlatSkill(name))) continue;
      const real = follow(path, name);
      if (real === undefined) continue;
      if (isFile && depth > 0) addSkill(path, real, dirname(path));
      else if (isFile) addFlat(path, real);
      else {
        const inner = readEntries(path, diagnostics);
        if (inner !== undefined) await enter({ folder: path, real, depth: depth + 1 }, inner);
      }
    }
  };

  await enter({ folder: root, real: realRoot, depth: 0 }, rootEntries);
  await followLinks();
  if (aliases.length > 0) {
    const more = aliases.length > 5 ? `, and ${aliases.length - 5} more` : '';
    const message = `links to what is read already are left out: ${aliases.slice(0, 5).join(', ')}${more}`;
    diagnostics.push({ level: 'note', code: 'LINKS_LEFT_OUT', message, path: root });
  }
  if (entryCount > entryLimit) {
    const message = `more than ${entryLimit} entries; the rest is not looked at`;
    diagnostics.push({ level: 'error', code: 'ROOT_TOO_LARGE', message, path: root });
  }
  skills.sort((one, other) => (one.path < other.path ? -1 : 1));
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

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
  const diagnostics: Diagnostic[] = [];
  const rootEntries = readEntries(root, diagnostics);
  if (rootEntries === undefined) return { skills: [], diagnostics, folders: [] };
  const scan: Scan = {
    root,
    realRoot: realpathSync.native(root),
    skills: [],
    diagnostics,
    folders: [],
    seen: new Set(),
    links: [],
    aliases: [],
    entryCount: 0,
    pace: createYieldToEventLoop(),
  };
  await enter(scan, { folder: root, real: scan.realRoot, depth: 0 }, rootEntries);
  await followLinks(scan);
  const { aliases, entryCount, skills, folders } = scan;
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

/** What a scan has found so far. */
type Scan = {
  readonly root: string;
  readonly realRoot: string;
  readonly skills: FoundSkill[];
  readonly diagnostics: Diagnostic[];
  readonly folders: string[];
  /** Real paths of the folders and skill files that were read. */
  readonly seen: Set<string>;
  /** Links that are not followed yet. */
  readonly links: Readonly<{ path: string; depth: number }>[];
  /** Links to what was read already, for people. */
  readonly aliases: string[];
  entryCount: number;
  /** Lets other work of the process run now and then. */
  readonly pace: ReturnType<typeof createYieldToEventLoop>;
};

/** Reads a folder. `real` is its path without links; passing it on saves a look at the disk for everything below. */
async function enter(
  scan: Scan,
  { folder, real, depth }: Readonly<{ folder: string; real: string; depth: number }>,
  entries: readonly Dirent[],
): Promise<void> {
  const { diagnostics, links } = scan;
  scan.folders.push(folder);
  scan.seen.add(real);
  await scan.pace();
  const skillFile = depth === 0 ? undefined : pickSkillFile(entries);
  const noFile = skillFile === undefined ? entries.find(isSkillFolder) : undefined;
  if (noFile !== undefined && depth > 0) {
    const message = 'is a folder: a skill needs a file of that name';
    diagnostics.push({ level: 'error', code: 'UNREADABLE', message, path: join(folder, noFile.name) });
  }
  if (skillFile !== undefined) {
    const path = join(folder, skillFile.name);
    if (skillFile.isSymbolicLink()) links.push({ path, depth });
    else addSkill(scan, path, join(real, skillFile.name));
    return;
  }
  for (const entry of sorted(entries)) {
    scan.entryCount += 1;
    if (scan.entryCount > entryLimit) return;
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) {
      if (depth < scanDepth || entry.name.endsWith('.md')) links.push({ path, depth });
      continue;
    }
    if (!entry.isDirectory()) {
      if (depth === 0 && isFlatSkill(entry.name)) addFlat(scan, path, join(real, entry.name));
      continue;
    }
    const inner = depth >= scanDepth ? undefined : readEntries(path, diagnostics);
    if (inner !== undefined)
      await enter(scan, { folder: path, real: join(real, entry.name), depth: depth + 1 }, inner);
  }
}

/**
 * Follows links after everything real, so that a link to a known folder is recognised. What a link brings may have
 * links again.
 */
async function followLinks(scan: Scan): Promise<void> {
  const { links, diagnostics } = scan;
  for (let link = links.shift(); link !== undefined; link = links.shift()) {
    const { path, depth } = link;
    const name = basename(path);
    const isFile = name.endsWith('.md');
    if (isFile && !isSkillFileName(name) && (depth > 0 || !isFlatSkill(name))) continue;
    const real = realPathToRead(scan, path);
    if (real === undefined) continue;
    if (isFile && depth > 0) addSkill(scan, path, real);
    else if (isFile) addFlat(scan, path, real);
    else {
      const inner = readEntries(path, diagnostics);
      if (inner !== undefined) await enter(scan, { folder: path, real, depth: depth + 1 }, inner);
    }
  }
}

/** The real path of a link. Undefined if it may not be read or was read already. */
function realPathToRead(
  { root, realRoot, seen, aliases, diagnostics }: Scan,
  path: string,
): string | undefined {
  const real = realPathOf(path);
  if (real !== undefined && isInside(realRoot, real)) {
    if (!seen.has(real)) return real;
    aliases.push(`${relative(root, path)} → ${relative(realRoot, real) || '.'}`);
    return undefined;
  }
  const name = basename(path);
  const message =
    real === undefined
      ? `${name} is a broken link`
      : `${name} leads out of its root, to ${real}; it is not read: copy what it leads to, or install it with "${skilletHere()} skill add ${real}"`;
  diagnostics.push({ level: 'error', code: 'SYMLINK_ESCAPE', message, path });
  return undefined;
}

function addSkill({ seen, skills }: Scan, path: string, real: string): void {
  seen.add(real);
  skills.push({ path, directory: dirname(path), diagnostics: spelling(path, basename(path)) });
}

function addFlat({ seen, skills, diagnostics }: Scan, path: string, real: string): void {
  if (isSkillFileName(basename(path))) {
    const message = "lies directly in a root; put it into a folder with the skill's name";
    diagnostics.push({ level: 'warning', code: 'SKILL_IN_ROOT', message, path });
    return;
  }
  seen.add(real);
  skills.push({ path, diagnostics: [] });
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

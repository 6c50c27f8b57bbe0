import { basename, dirname } from 'node:path';
import type { SourceEntry } from './install-source.ts';
import { isFlatSkill, isSkillFileName, scanDepth } from '../scan-root.ts';

/** A skill in a source, not looked into yet. */
export type FoundInSource = Readonly<{
  /** Its folder, or its flat file; empty where the source itself is the skill. */
  path: string;
  skillFile: SourceEntry;
  /** All that lies in its folder, the skill file included. */
  entries: readonly SourceEntry[];
}>;

/**
 * The skills of a source, by the rules of a root (D4): four folders deep, none inside another, not below dot entries or
 * `node_modules`, flat files at the top only. Beside that the source itself may be one skill.
 */
export function findInSource(entries: readonly SourceEntry[]): readonly FoundInSource[] {
  const skillFiles = new Map<string, SourceEntry>();
  const flat: SourceEntry[] = [];
  for (const entry of entries) {
    if (entry.kind !== 'file' || entry.problem !== undefined) continue;
    const folder = folderOf(entry.path);
    const name = basename(entry.path);
    if (folder === '' && isFlatSkill(name) && !isSkillFileName(name)) flat.push(entry);
    const parts = folder === '' ? [] : folder.split('/');
    if (parts.length > scanDepth || parts.some((part) => part.startsWith('.') || part === 'node_modules'))
      continue;
    // Entries come in path order: of several spellings SKILL.md is the first.
    if (isSkillFileName(name) && !skillFiles.has(folder)) skillFiles.set(folder, entry);
  }
  if (skillFiles.has('')) flat.length = 0;
  const outermost = [...skillFiles].filter(
    ([folder]) => !foldersAbove(folder).some((above) => skillFiles.has(above)),
  );
  const inFolders = outermost.map(([path, skillFile]) => {
    const inside = path === '' ? entries : entries.filter((entry) => entry.path.startsWith(`${path}/`));
    return { path, skillFile, entries: inside };
  });
  return [...inFolders, ...flat.map((entry) => ({ path: entry.path, skillFile: entry, entries: [entry] }))];
}

function folderOf(path: string): string {
  const folder = dirname(path);
  return folder === '.' ? '' : folder;
}

/** Those that a folder lies in, the top of the source included. */
function foldersAbove(folder: string): readonly string[] {
  if (folder === '') return [];
  const parts = folder.split('/');
  return parts.map((_, index) => parts.slice(0, index).join('/'));
}

import {
  lstatSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import path from 'node:path';
import { enterFolder, unlessRefused } from '../lib/files/open-inside.ts';
import type { SandboxRequest } from './sandbox.ts';

/** A file or folder of the skill that commands find in the working folder. `names`: its path below both. */
export type OwnEntry = Readonly<{ source: string; names: readonly string[]; isFolder: boolean }>;

/** Each is a mount. */
const mostEntries = 100;
/** Sticky, so that an empty file of the run is never mistaken for one. */
const pointModes = { folder: 0o1500, file: 0o1400 };

/**
 * What of a skill is shown in the working folder (R5): there `scripts/a.py` means the same in every command. An entry of
 * the run comes first; folders that both have are joined. No dot entries, and no links, which could lead out.
 */
export function ownEntries({
  skillDirectory: skill,
  scratch,
}: Pick<SandboxRequest, 'skillDirectory' | 'scratch'>): readonly OwnEntry[] {
  const found: OwnEntry[] = [];
  const look = (skill: string, below: readonly string[]): void => {
    for (const entry of readdirSync(path.join(skill, ...below), { withFileTypes: true })) {
      const isFolder = entry.isDirectory();
      if (entry.name.startsWith('.') || !(isFolder || entry.isFile()) || found.length >= mostEntries)
        continue;
      const names = [...below, entry.name];
      const own = lookInto(scratch, names);
      if (own === 'none') found.push({ source: path.join(skill, ...names), names, isFolder });
      else if (own === 'folder' && isFolder) look(skill, names);
    }
  };
  if (skill !== undefined) unlessRefused(() => look(skill, []));
  return found;
}

function lookInto(scratch: string, names: readonly string[]): 'none' | 'folder' | 'other' {
  try {
    const stats = lstatSync(path.join(scratch, ...names), { throwIfNoEntry: false });
    if (stats === undefined || isPoint(stats)) return 'none';
    return stats.isDirectory() ? 'folder' : 'other';
  } catch {
    // A folder that the run has closed.
    return 'other';
  }
}

/**
 * Makes an empty entry in the working folder for each, where it can be mounted, or a `link` where nothing is mounted.
 * The result removes them; what the command put in their place stays.
 */
export function placeEntries(
  { scratch }: Pick<SandboxRequest, 'scratch'>,
  entries: readonly OwnEntry[],
  as: 'point' | 'link' = 'point',
): () => void {
  const each = (names: readonly string[], work: (place: string) => void): void => {
    const entered = enterFolder(scratch, names.slice(0, -1));
    if (entered === undefined) return;
    try {
      unlessRefused(() => work(entered.at(names.at(-1) ?? '')));
    } finally {
      entered.leave();
    }
  };
  for (const { source, names, isFolder } of entries)
    each(names, (place) => {
      if (as === 'link') symlinkSync(source, place);
      else if (isFolder) mkdirSync(place, { mode: pointModes.folder });
      else writeFileSync(place, '', { mode: pointModes.file, flag: 'wx' });
    });
  return () => {
    for (const { names } of entries)
      each(names, (place) => {
        const stats = lstatSync(place);
        if (as === 'link' ? stats.isSymbolicLink() : isPoint(stats))
          (stats.isDirectory() ? rmdirSync : unlinkSync)(place);
      });
  };
}

function isPoint(stats: Stats): boolean {
  const mode = stats.mode & 0o7777;
  return stats.isDirectory()
    ? mode === pointModes.folder
    : stats.isFile() && stats.size === 0 && mode === pointModes.file;
}

/** Where commands find an entry. */
export function seenEntry({ names }: OwnEntry): string {
  return ['/scratch', ...names].join('/');
}

import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import path from 'node:path';
import { enterFolder, openInside, unlessRefused } from '../lib/files/open-inside.ts';
import type { SandboxFolders } from './sandbox.ts';

/** A file or folder of the skill that commands find in the working folder. `names` is its path below both. */
export type OwnEntry = Readonly<{ source: string; names: readonly string[]; isFolder: boolean }>;

/** Limited, because each of them is a mount. */
const mostEntries = 100;
/** Sticky, so that an empty file of the run is never mistaken for one. */
const pointModes = { folder: 0o1500, file: 0o1400 };

/**
 * What of a skill is shown in the working folder (R5), where `scripts/a.py` then means the same in every command. An
 * entry of the run takes precedence, and folders that both have are joined. Dot entries and links are left out, because
 * links could lead out.
 */
export function ownEntries({ skillDirectory: skill, scratch }: SandboxFolders): readonly OwnEntry[] {
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
    // The run has closed the folder.
    return 'other';
  }
}

/** What a command finds in its working folder. `mounts` are read-only, and `placeEntries` made a place for each. */
type Placed = Readonly<{ mounts: readonly OwnEntry[]; remove(): void }>;

/**
 * Shows a skill's entries in the working folder (R5). Small ones are copied, so that a command may write beside them.
 * Larger ones get an empty place for a mount, or a `link`, or `nothing`. `remove` takes away what the command left
 * unchanged.
 */
export function placeEntries(request: SandboxFolders, others: 'point' | 'link' | 'nothing'): Placed {
  const { scratch } = request;
  const each = (names: readonly string[], work: (place: string) => void): void => {
    const entered = enterFolder(scratch, names.slice(0, -1));
    if (entered === undefined) return;
    try {
      unlessRefused(() => work(entered.at(names.at(-1) ?? '')));
    } finally {
      entered.leave();
    }
  };
  const { small, large } = bySize(ownEntries(request));
  const made = new Map<Copied, string>();
  for (const one of small)
    each(one.names, (place) => {
      if (one.isFolder) mkdirSync(place, { mode: 0o755 });
      else copyFileSync(one.source, place, constants.COPYFILE_EXCL);
      if (!one.isFolder) chmodSync(place, one.mode);
      made.set(one, stampOf(place));
    });
  for (const { source, names, isFolder } of others === 'nothing' ? [] : large)
    each(names, (place) => {
      if (others === 'link') symlinkSync(source, place);
      else if (isFolder) mkdirSync(place, { mode: pointModes.folder });
      else writeFileSync(place, '', { mode: pointModes.file, flag: 'wx' });
    });
  return {
    mounts: large,
    remove() {
      for (const { names } of large)
        each(names, (place) => {
          const stats = lstatSync(place);
          if (others === 'link' ? stats.isSymbolicLink() : isPoint(stats))
            (stats.isDirectory() ? rmdirSync : unlinkSync)(place);
        });
      for (const one of small.toReversed())
        each(one.names, (place) => {
          // A folder is removed only if nothing is left in it.
          if (one.isFolder) rmdirSync(place);
          else if (made.get(one) === stampOf(place) || isSame(one, scratch)) unlinkSync(place);
        });
    },
  };
}

/** Limits of copies in all, because they are made for each command. */
const mostCopies = 50;
const mostBytes = 500_000;

type Copied = OwnEntry & Readonly<{ mode: number; size: number }>;

function bySize(
  entries: readonly OwnEntry[],
): Readonly<{ small: readonly Copied[]; large: readonly OwnEntry[] }> {
  const small: Copied[] = [];
  const large: OwnEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const within = unlessRefused(() => allWithin(entry, mostCopies - small.length));
    const size = within?.reduce((sum, one) => sum + one.size, 0) ?? 0;
    if (within === undefined || bytes + size > mostBytes) {
      large.push(entry);
      continue;
    }
    small.push(...within);
    bytes += size;
  }
  return { small, large };
}

/**
 * The entries of a folder, each folder before its content. Undefined if there are more than `most`, or links, which
 * could lead out.
 */
function allWithin(entry: OwnEntry, most: number): readonly Copied[] | undefined {
  const found: Copied[] = [];
  const waiting = [entry];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    const { source, names } = one;
    const stats = lstatSync(source);
    const isFolder = stats.isDirectory();
    if ((!isFolder && !stats.isFile()) || found.length >= most || stats.size > mostBytes) return undefined;
    found.push({
      source,
      names,
      isFolder,
      mode: (stats.mode & 0o111) === 0 ? 0o644 : 0o755,
      size: stats.size,
    });
    if (isFolder)
      for (const name of readdirSync(source))
        waiting.push({ source: path.join(source, name), names: [...names, name], isFolder: false });
  }
  return found;
}

/** A text that changes with everything that is done to a file. */
function stampOf(place: string): string {
  const { ino, ctimeNs } = lstatSync(place, { bigint: true });
  return `${ino} ${ctimeNs}`;
}

/** Whether a copy still has the content it was made with. */
function isSame({ source, names, mode, size }: Copied, scratch: string): boolean {
  const descriptor = openInside({ root: scratch, names }, { alone: true });
  if (descriptor === undefined) return false;
  try {
    const stats = fstatSync(descriptor);
    if (stats.size !== size || (stats.mode & 0o7777) !== mode) return false;
    return readFileSync(descriptor).equals(readFileSync(source));
  } finally {
    closeSync(descriptor);
  }
}

/** Whether the run has something of its own at a path of the skill. */
export function isHiddenEntry(scratch: string, file: string): boolean {
  const names = file.split('/');
  const found = names.map((_, at) => lookInto(scratch, names.slice(0, at + 1)));
  const end = found.findIndex((what) => what !== 'folder');
  return found[end] !== 'none';
}

function isPoint(stats: Stats): boolean {
  const mode = stats.mode & 0o7777;
  return stats.isDirectory()
    ? mode === pointModes.folder
    : stats.isFile() && stats.size === 0 && mode === pointModes.file;
}

/** The path at which commands find an entry. */
export function seenEntry({ names }: OwnEntry): string {
  return ['/scratch', ...names].join('/');
}

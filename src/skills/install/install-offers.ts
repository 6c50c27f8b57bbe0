import { basename, join, dirname } from 'node:path';
import { addressText } from '../../config/source-address.ts';
import type { Diagnostic } from '../../core/codes.ts';
import { OperatorError } from '../../core/errors.ts';
import { belongsTo, readBundles, type Bundle } from './read-bundles.ts';
import { sizeText, type InstallLimits, type SourceEntry, type SourceSnapshot } from './install-source.ts';
import { sha256Of } from './hash-skill.ts';
import { readLimit, judge } from '../load-skills.ts';
import type { Definition } from '../parse/skill-definition.ts';
import { isFlatSkill, isSkillFileName, scanDepth } from '../scan-root.ts';
import { isScriptPath } from '../skill-files.ts';

/** A file with exactly the bytes that would be installed. */
export type OfferedFile = Readonly<{ path: string; bytes: Buffer; sha256: string; executable: boolean }>;

/** Files that are installed together under a name. `path` is their folder in the source. */
export type BundleOffer = Readonly<{
  name: string;
  path: string;
  /** All of them, in path order. */
  files: readonly OfferedFile[];
}>;

export type SkillOffer = BundleOffer &
  Readonly<{
    definition: Definition;
    scripts: readonly OfferedFile[];
    /** Problems of the skill, and what was left out of it. */
    diagnostics: readonly Diagnostic[];
  }>;

export type Refused = Readonly<{ name: string; path: string; problems: readonly string[] }>;

export type Offers = Readonly<{
  offers: readonly SkillOffer[];
  refused: readonly Refused[];
  others: readonly string[];
  /** Paths of SKILL.md files that are too many folders deep to be offered. */
  tooDeep: readonly string[];
  bundles: readonly Bundle[];
}>;

/**
 * Reads all bytes of the `wanted` skills; by default all skills. What is shown, approved, hashed and installed is this
 * same value (D6). It leaves out links and submodules. It refuses dangerous names, too many or too large files, and
 * skills that would not load. Throws OperatorError if the source is too large.
 */
export async function readOffers(
  snapshot: SourceSnapshot,
  options: Readonly<{ limits: InstallLimits; strict: boolean; wanted?: (name: string) => boolean }>,
): Promise<Offers> {
  const { limits, strict, wanted = () => true } = options;
  const bundles = await readBundles(snapshot);
  const { found: all, tooDeep } = findInSource(snapshot.entries);
  const found = all.filter(({ path }) => belongsTo(bundles, path));
  const small = found.filter(({ skillFile }) => skillFile.size <= limits.fileBytes);
  keepWithin(
    small.map(({ skillFile }) => skillFile),
    snapshot,
    limits,
  );
  const skillFiles = await snapshot.read(small.map(({ skillFile }) => skillFile));
  const refused: Refused[] = found
    .filter((each) => !small.includes(each))
    .map(({ path }) => ({
      name: basename(path),
      path,
      problems: [`SKILL.md has more than ${sizeText(limits.fileBytes)}`],
    }));
  const others: string[] = [];
  const chosen: Chosen[] = [];
  for (const [index, each] of small.entries()) {
    const bytes = skillFiles[index] ?? Buffer.alloc(0);
    const read = judge(placeOf(snapshot, each, bytes), { diagnostics: [] }, strict);
    const name = read.ok ? read.definition.name : read.name;
    if (!wanted(name)) others.push(name);
    else if (!read.ok) {
      if (isFlat(each) && bytes.toString('latin1', 0, 3) !== '---') continue;
      const problems = read.diagnostics.map(({ code, message }) => `${code}: ${message}`);
      refused.push({ name, path: each.path, problems });
    } else {
      const { problems, notes } = inspectFiles(each, limits);
      const twice = chosen.find(({ definition }) => definition.name === name);
      // Repositories keep the same skill once for each program, such as `skills/x` and `.claude/skills/x`.
      if (twice !== undefined && twice.bytes.equals(bytes)) continue;
      const wrong = [...problems, ...(twice === undefined ? [] : [`${twice.found.path} has the same name`])];
      if (wrong.length > 0) refused.push({ name, path: each.path, problems: wrong });
      else chosen.push({ found: each, definition: read.definition, notes, bytes });
    }
  }
  const files = chosen.flatMap((each) => plainFiles(each.found));
  keepWithin(files, snapshot, limits);
  const bytes = new Map((await snapshot.read(files)).map((read, index) => [files[index]?.path, read]));
  const offers = chosen.map((one) => toOffer(one, { snapshot, bytes, strict }));
  return { offers, refused, others: others.sort(), tooDeep, bundles };
}

type Chosen = Readonly<{
  found: FoundInSource;
  definition: Definition;
  notes: readonly Diagnostic[];
  bytes: Buffer;
}>;

/** Puts the files of a skill together. `bytes` are by path. */
function toOffer(
  { found, definition: { name }, notes }: Chosen,
  {
    snapshot,
    bytes,
    strict,
  }: Readonly<{ snapshot: SourceSnapshot; bytes: ReadonlyMap<string | undefined, Buffer>; strict: boolean }>,
): SkillOffer {
  const files = plainFiles(found).map((entry): OfferedFile => {
    const content = bytes.get(entry.path) ?? Buffer.alloc(0);
    return {
      path: pathInSkill(found, entry),
      bytes: content,
      sha256: sha256Of(content),
      executable: entry.executable,
    };
  });
  // The file may have changed after the first reading, so what will be loaded is judged again.
  const skillFile = files.find(({ path }) => path === pathInSkill(found, found.skillFile));
  const place = placeOf(snapshot, found, skillFile?.bytes ?? Buffer.alloc(0));
  const again = judge(place, { diagnostics: [] }, strict);
  if (!again.ok || again.definition.name !== name)
    throw new OperatorError(`${found.path} changed while it was read; try again.`);
  return {
    name,
    path: found.path,
    definition: again.definition,
    files,
    scripts: files.filter(({ path }) => isScriptPath(path)),
    diagnostics: [...again.definition.diagnostics, ...notes],
  };
}

function placeOf({ address }: SourceSnapshot, { path, skillFile }: FoundInSource, bytes: Buffer) {
  const top = addressText(address).replace(/\.git$/, '');
  const shown = { path: skillFile.path, origin: 'installed' as const };
  const start = { bytes: bytes.subarray(0, readLimit), cut: bytes.length > readLimit };
  return isFlat({ path, skillFile })
    ? { ...shown, ...start }
    : { ...shown, ...start, directory: join(top, path) };
}

function isFlat({ path, skillFile }: Pick<FoundInSource, 'path' | 'skillFile'>): boolean {
  return path === skillFile.path;
}

/** The path of a file in its skill's folder. A flat skill gets a folder of its own (F1). */
function pathInSkill(found: FoundInSource, { path }: SourceEntry): string {
  if (isFlat(found)) return 'SKILL.md';
  return found.path === '' ? path : path.slice(found.path.length + 1);
}

function plainFiles({ entries }: Readonly<{ entries: readonly SourceEntry[] }>): readonly SourceEntry[] {
  return entries.filter(({ kind }) => kind === 'file');
}

/** What forbids to install these files, and what of them is left out. */
export function inspectFiles(
  found: Readonly<{ entries: readonly SourceEntry[] }>,
  limits: InstallLimits,
): Readonly<{ problems: readonly string[]; notes: readonly Diagnostic[] }> {
  const problems: string[] = [];
  const notes: Diagnostic[] = [];
  const seen = new Map<string, string>();
  for (const { path, kind, size, problem } of found.entries) {
    const named = JSON.stringify(path);
    if (problem !== undefined) problems.push(`${named}: ${problem}`);
    else if (kind !== 'file') {
      const what = kind === 'submodule' ? 'a repository of its own' : 'a link, or no plain file';
      const message = `${named} is ${what}: it is left out`;
      notes.push({
        level: 'warning',
        code: kind === 'submodule' ? 'SUBMODULE_LEFT_OUT' : 'LINK_LEFT_OUT',
        message,
      });
    } else {
      if (size > limits.fileBytes)
        problems.push(`${named} has ${sizeText(size)}; at most ${sizeText(limits.fileBytes)}`);
      // Some file systems treat such names as equal.
      const folded = path.normalize('NFKC').toLowerCase();
      const same = seen.get(folded);
      if (same !== undefined)
        problems.push(`${named} and ${JSON.stringify(same)} are one name on some systems`);
      seen.set(folded, path);
    }
  }
  for (const folded of seen.keys()) {
    const above = [...folded.matchAll(/\//g)].map(({ index }) => folded.slice(0, index));
    const clash = above.find((folder) => seen.has(folder));
    if (clash !== undefined) problems.push(`${JSON.stringify(clash)} is a file and a folder`);
  }
  const files = plainFiles(found);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (files.length > limits.skillFiles)
    problems.push(`it has ${files.length} files; at most ${limits.skillFiles}`);
  if (bytes > limits.skillBytes)
    problems.push(`it has ${sizeText(bytes)}; at most ${sizeText(limits.skillBytes)}`);
  return { problems: problems.slice(0, 20), notes: notes.slice(0, 20) };
}

function keepWithin(files: readonly SourceEntry[], { address }: SourceSnapshot, limits: InstallLimits): void {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes > limits.totalBytes)
    throw new OperatorError(
      `${addressText(address)} holds skills of ${sizeText(bytes)} in all; at most ${sizeText(limits.totalBytes)}. Name those you want with --name.`,
    );
}

type FoundInSource = Readonly<{
  /** Path of the skill in the source. Empty if the source itself is the skill. */
  path: string;
  skillFile: SourceEntry;
  entries: readonly SourceEntry[];
}>;

/** Folders of a source that have copies and caches, not skills. */
const leftOut: ReadonlySet<string> = new Set([
  'node_modules',
  '.git',
  '.hg',
  '.svn',
  '.venv',
  '.cache',
  '.tox',
]);

/**
 * Finds skills up to four folders deep, but not inside one another, and flat files at the top. The source itself may
 * also be a skill. Unlike in a root (D4), folders such as `.claude/skills` count, because other people keep skills
 * there. Folders without a dot come first.
 */
function findInSource(
  entries: readonly SourceEntry[],
): Readonly<{ found: readonly FoundInSource[]; tooDeep: readonly string[] }> {
  const skillFiles = new Map<string, SourceEntry>();
  const tooDeep: string[] = [];
  const flat: SourceEntry[] = [];
  for (const entry of entries) {
    if (entry.kind !== 'file' || entry.problem !== undefined) continue;
    const folder = folderOf(entry.path);
    const name = basename(entry.path);
    if (folder === '' && isFlatSkill(name) && !isSkillFileName(name)) flat.push(entry);
    const parts = folder === '' ? [] : folder.split('/');
    if (!isSkillFileName(name) || parts.some((part) => leftOut.has(part))) continue;
    if (parts.filter((part) => !startsWithDot(part)).length > scanDepth) tooDeep.push(entry.path);
    // Entries are in path order, so SKILL.md comes before other spellings.
    else if (!skillFiles.has(folder)) skillFiles.set(folder, entry);
  }
  if (skillFiles.has('')) flat.length = 0;
  const outermost = [...skillFiles].filter(
    ([folder]) => !foldersAbove(folder).some((above) => skillFiles.has(above)),
  );
  const inFolders = outermost.map(([path, skillFile]) => {
    const inside = path === '' ? entries : entries.filter((entry) => entry.path.startsWith(`${path}/`));
    return { path, skillFile, entries: inside };
  });
  const isHidden = ({ path }: FoundInSource): number => (path.split('/').some(startsWithDot) ? 1 : 0);
  inFolders.sort((a, b) => isHidden(a) - isHidden(b));
  const found = [
    ...inFolders,
    ...flat.map((entry) => ({ path: entry.path, skillFile: entry, entries: [entry] })),
  ];
  return { found, tooDeep };
}

function startsWithDot(part: string): boolean {
  return part.startsWith('.');
}

function folderOf(path: string): string {
  const folder = dirname(path);
  return folder === '.' ? '' : folder;
}

function foldersAbove(folder: string): readonly string[] {
  if (folder === '') return [];
  const parts = folder.split('/');
  return parts.map((_, index) => parts.slice(0, index).join('/'));
}

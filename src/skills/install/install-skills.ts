import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { lockOwner } from '../../store/sqlite/lock-owner.ts';
import type { BundleOffer, SkillOffer } from './install-offers.ts';
import { checkPinned } from './hash-skill.ts';
import {
  bundleFolder,
  installedFolder,
  installedRoot,
  lockPath,
  readLock,
  syncFolder,
  writeLock,
  type Lock,
  type LockedSkill,
  type LockedSource,
} from './lock-file.ts';
import { hasCode } from '../../lib/has-code.ts';

type Agreement = Readonly<{
  source: string;
  ref?: string;
  commit?: string;
  offers: readonly SkillOffer[];
  /** Bundles whose files are kept. Undefined: none. */
  bundles?: readonly BundleOffer[];
  /** When somebody approved it, in Unix milliseconds. */
  at: number;
}>;

/** Folders that are no longer used stay this long, because running skills may still need them. */
const unusedForMs = 86_400_000;

/** A new folder for this process. Folders that a dead process left are removed first. */
export function quarantineFolder(dataDir: string): string {
  const folder = join(dataDir, 'quarantine');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(folder)) {
    if (isLeft(join(folder, name), Number(name.split('-')[0])))
      rmSync(join(folder, name), { recursive: true, force: true });
  }
  return join(folder, `${process.pid}-${randomBytes(6).toString('hex')}`);
}

/**
 * Installs the offered bytes, then updates the lock (D6). Each content has a folder of its own that is renamed into
 * place, and the lock is replaced atomically. So an interruption leaves the old or the new state. Throws OperatorError
 * if the lock can't be read or is in use, or if a name is installed from elsewhere.
 */
export function installSkills(dataDir: string, agreement: Agreement): void {
  const { source, ref, commit, offers, bundles = [], at } = agreement;
  const toLocked = ({ name, path, files }: BundleOffer): LockedSkill => ({
    name,
    path,
    commit,
    agreedAt: new Date(at).toISOString(),
    files: files.map(({ path: file, sha256 }) => ({ path: file, sha256 })),
  });
  const [agreed, kept] = [offers.map(toLocked), bundles.map(toLocked)];
  changeLock(dataDir, (lock) => {
    for (const { name } of agreed) {
      const other = lock.sources.find(
        (each) => each.source !== source && each.skills.some((one) => one.name === name),
      );
      if (other !== undefined)
        throw new OperatorError(
          `"${name}" is installed from ${other.source}: remove it there first, or leave it out.`,
        );
    }
    for (const { name } of kept) refuseSecondBundle(lock, name, source);
    for (const [index, skill] of agreed.entries())
      putInPlace(dataDir, installedFolder(dataDir, skill), { skill, offer: offers[index], modes: own });
    for (const [index, bundle] of kept.entries())
      putInPlace(dataDir, bundleFolder(dataDir, bundle), {
        skill: bundle,
        offer: bundles[index],
        modes: readOnly,
      });
    const before = lock.sources.find((each) => each.source === source);
    for (const old of before?.skills ?? []) noteUse(dirname(installedFolder(dataDir, old)), at);
    for (const old of before?.bundles ?? []) noteUse(dirname(bundleFolder(dataDir, old)), at);
    const changed: LockedSource = {
      ...{ source, ref, skills: withNew(before?.skills, agreed) },
      bundles: withNew(before?.bundles, kept),
    };
    const others = lock.sources.filter((each) => each.source !== source);
    return { sources: [...others, changed].sort((a, b) => (a.source < b.source ? -1 : 1)) };
  });
  sweep(dataDir, at);
}

function withNew(
  before: readonly LockedSkill[] = [],
  agreed: readonly LockedSkill[],
): readonly LockedSkill[] {
  const kept = before.filter(({ name }) => !agreed.some((one) => one.name === name));
  return [...kept, ...agreed].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** `[mcp.NAME] bundle` names a bundle without its source, so there is one of each name. */
function refuseSecondBundle(lock: Lock, name: string, source: string): void {
  const other = lock.sources.find(
    (each) => each.source !== source && each.bundles?.some((one) => one.name === name),
  );
  if (other !== undefined)
    throw new OperatorError(`The bundle "${name}" is kept from ${other.source}: remove that first.`);
}

type Removed = Readonly<{ source: string; kind: 'skill' | 'bundle'; name: string }>;

/**
 * Removes skills and files of bundles from lock and disk, and drops sources that have none left. Returns what was
 * removed.
 */
export function removeSkills(
  dataDir: string,
  isGone: (source: LockedSource, one: LockedSkill) => boolean,
): readonly Removed[] {
  const gone: (Removed & { folder: string })[] = [];
  changeLock(dataDir, (lock) => {
    const sources = lock.sources.map((each) => {
      const left = (all: readonly LockedSkill[], kind: Removed['kind']): readonly LockedSkill[] =>
        all.filter((one) => {
          if (!isGone(each, one)) return true;
          const folder = (kind === 'skill' ? installedFolder : bundleFolder)(dataDir, one);
          gone.push({ source: each.source, kind, name: one.name, folder });
          return false;
        });
      return { ...each, skills: left(each.skills, 'skill'), bundles: left(each.bundles ?? [], 'bundle') };
    });
    return { sources: sources.filter(({ skills, bundles }) => skills.length + bundles.length > 0) };
  });
  for (const { folder } of gone) rmSync(dirname(folder), { recursive: true, force: true });
  return gone;
}

function changeLock(dataDir: string, change: (lock: Lock) => Lock): void {
  const root = installedRoot(dataDir);
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const owner = lockOwner(lockPath(dataDir), { what: lockPath(dataDir), instead: 'a moment' });
  try {
    const reading = readLock(dataDir);
    if (!reading.ok)
      throw new OperatorError(
        `${reading.path} can't be read: put it back from a backup, or remove it and add the sources again.\n${reading.problem}`,
      );
    writeLock(dataDir, change(reading.lock));
    // The bot watches this folder, but not the one of the lock.
    writeFileSync(join(root, '.changed'), `${Date.now()}\n`, { mode: 0o600 });
  } finally {
    owner.release();
  }
}

type Modes = Readonly<{ program: number; file: number }>;
const own: Modes = { program: 0o700, file: 0o600 };
/** Servers run these files, and write into a folder of their own. */
const readOnly: Modes = { program: 0o500, file: 0o400 };

function putInPlace(
  dataDir: string,
  folder: string,
  { skill, offer, modes }: Readonly<{ skill: LockedSkill; offer: BundleOffer | undefined; modes: Modes }>,
): void {
  const isFolder = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder && checkPinned(folder, skill.files) === undefined) return;
  const aside = quarantineFolder(dataDir);
  try {
    for (const { path, bytes, executable } of offer?.files ?? []) {
      const target = join(aside, skill.name, path);
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
      writeNew(target, bytes, executable ? modes.program : modes.file);
    }
    const problem = checkPinned(join(aside, skill.name), skill.files);
    if (problem !== undefined) throw new OperatorError(`${skill.name} could not be written: ${problem}.`);
    rmSync(dirname(folder), { recursive: true, force: true });
    renameSync(aside, dirname(folder));
    syncFolder(installedRoot(dataDir));
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

function writeNew(path: string, bytes: Uint8Array, mode: number): void {
  const file = openSync(path, 'wx', mode);
  try {
    for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function noteUse(folder: string, now: number): void {
  if (existsSync(folder)) utimesSync(folder, now / 1_000, now / 1_000);
}

/** Removes contents that the lock does not have and that were not used for a day. */
function sweep(dataDir: string, now: number): void {
  const reading = readLock(dataDir);
  if (!reading.ok) return;
  const root = installedRoot(dataDir);
  const used = new Set(
    reading.lock.sources
      .flatMap(({ skills, bundles = [] }) => [
        ...skills.map((skill) => installedFolder(dataDir, skill)),
        ...bundles.map((bundle) => bundleFolder(dataDir, bundle)),
      ])
      .map((folder) => basename(dirname(folder))),
  );
  for (const name of readdirSync(root)) {
    if (!/^[0-9a-f]{64}$/.test(name) || used.has(name)) continue;
    const folder = join(root, name);
    if (now - statSync(folder).mtimeMs > unusedForMs) rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Whether a folder is left from a dead process. Process ids repeat in containers, so anything older than this process
 * is not its own.
 */
function isLeft(path: string, pid: number): boolean {
  const madeAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const startedAt = Date.now() - process.uptime() * 1_000;
  return pid === process.pid ? madeAt < startedAt : !isAlive(pid);
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false;
    if (hasCode(error, 'EPERM')) return true;
    throw error;
  }
}

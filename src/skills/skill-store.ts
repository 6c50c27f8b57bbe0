import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
  type BigIntStats,
} from 'node:fs';
import type { Diagnostic } from '../core/codes.ts';
import type { Pin } from '../core/skill.ts';
import { createYieldToEventLoop } from '../lib/async/mutex.ts';
import { isInside, scanRoot } from './scan-root.ts';
import { readSkillFile, type ReadFileResult } from './skill-files.ts';

/** A skill file that a store holds. */
export type StoredSkill = Readonly<{
  /** Identity of the file: its absolute path where it is one. */
  path: string;
  /** Identity of the skill's folder; absent for a flat file. */
  directory?: string;
  /** Changes whenever the file's bytes may have. */
  stamp: string;
  /** What was agreed to of it: no other version of the file may stand in for it, and its name is known without it (D6). */
  pin?: Pin;
  /** What is noteworthy about where and how it lies. */
  diagnostics: readonly Diagnostic[];
}>;

export type StoredBytes =
  | Readonly<{
      ok: true;
      bytes: Uint8Array;
      /** More bytes follow. */ cut: boolean;
      /** Of these very bytes. */ stamp: string;
    }>
  | Readonly<{ ok: false; diagnostic: Diagnostic }>;

/** A place skills are kept in (D8). One real implementation: a folder, `fileSkillStore`. */
export type SkillStore = Readonly<{
  /** Every skill file, in path order, with what was refused or left out. An absent place holds none. */
  list(): Promise<Readonly<{ skills: readonly StoredSkill[]; diagnostics: readonly Diagnostic[] }>>;
  /** The first `limit` bytes of a skill file. Gone or unreadable is a value. */
  load(skill: StoredSkill, limit: number): Promise<StoredBytes>;
  /** One text file of a skill, by a path inside its folder (R4). */
  readFile(skill: StoredSkill, path: string): Promise<ReadFileResult>;
  /** Folders in which a change may change what `list` or `load` says; none where nothing can be watched. */
  folders(): readonly string[];
}>;

/** Skills in a folder (D4, D5). Its calls are short, and made one a turn of the loop by those who read many. */
export function fileSkillStore(root: string): SkillStore {
  let folders: readonly string[] = [];
  return Object.freeze({
    async list() {
      const scan = await scanRoot(root);
      folders = scan.folders;
      const pace = createYieldToEventLoop();
      const skills: StoredSkill[] = [];
      for (const skill of scan.skills) {
        await pace();
        const stats = statSync(skill.path, { bigint: true, throwIfNoEntry: false });
        if (stats !== undefined) skills.push({ ...skill, stamp: stampOf(stats) });
      }
      return { skills, diagnostics: scan.diagnostics };
    },
    load: async ({ path }: StoredSkill, limit: number) => readStart(root, path, limit),
    readFile: async (skill: StoredSkill, path: string) => readSkillFile(skill, path),
    folders: () => folders,
  });
}

/** First `limit` bytes of a file whose real path lies in `root`; anything else is a value that says why (D5). */
export function readStart(root: string, path: string, limit: number): StoredBytes {
  const refuse = (code: string, message: string): StoredBytes => {
    const diagnostic: Diagnostic = { level: 'error', code, message, path };
    return { ok: false, diagnostic };
  };
  try {
    if (!isInside(realpathSync.native(root), realpathSync.native(path)))
      return refuse('SYMLINK_ESCAPE', 'leads out of its root; it is not read');
    // Non-blocking, so that a pipe called SKILL.md cannot hold up the bot.
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(descriptor, { bigint: true });
      if (!stats.isFile()) return refuse('UNREADABLE', 'is no file');
      const bytes = Buffer.allocUnsafe(Math.min(limit, Number(stats.size)));
      let size = 0;
      for (let read = -1; read !== 0 && size < bytes.length; size += read) {
        read = readSync(descriptor, bytes, size, bytes.length - size, null);
      }
      const cut = Number(stats.size) > size;
      return { ok: true, bytes: bytes.subarray(0, size), cut, stamp: stampOf(stats) };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error;
    return refuse('UNREADABLE', `cannot be read: ${error.message}`);
  }
}

function stampOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

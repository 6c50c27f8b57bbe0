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
import type { SkillFolder } from '../core/skill.ts';
import { createYieldToEventLoop } from '../lib/async/mutex.ts';
import { isInside, scanRoot } from './scan-root.ts';
import { readSkillFile, type ReadFileResult } from './skill-files.ts';

export type StoredSkill = SkillFolder &
  Readonly<{
    /** Absolute path if the skill is a file on disk. */
    path: string;
    /** Changes whenever the file's bytes may have changed. */
    stamp: string;
    diagnostics: readonly Diagnostic[];
  }>;

export type StoredBytes =
  | Readonly<{
      ok: true;
      bytes: Uint8Array;
      cut: boolean;
      /** The stamp of exactly these bytes. */ stamp: string;
    }>
  | Readonly<{ ok: false; diagnostic: Diagnostic }>;

/** Where skills can be kept. `fileSkillStore` is the one for plain folders (D8). */
export type SkillStore = Readonly<{
  /** Lists skills in path order, and what was left out. A place that does not exist is empty. */
  list(): Promise<Readonly<{ skills: readonly StoredSkill[]; diagnostics: readonly Diagnostic[] }>>;
  /** Reads the first `limit` bytes of a skill file. If it is gone or unreadable, the result says so. */
  load(skill: StoredSkill, limit: number): Promise<StoredBytes>;
  readFile(skill: StoredSkill, path: string): Promise<ReadFileResult>;
  folders(): readonly string[];
}>;

/** Skills in a folder. Calls are short, and callers yield to the event loop between them (D4, D5). */
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

/** Reads the beginning of a file, if its real path is in `root` (D5). */
export function readStart(root: string, path: string, limit: number): StoredBytes {
  const refuse = (code: string, message: string): StoredBytes => {
    const diagnostic: Diagnostic = { level: 'error', code, message, path };
    return { ok: false, diagnostic };
  };
  try {
    if (!isInside(realpathSync.native(root), realpathSync.native(path)))
      return refuse('SYMLINK_ESCAPE', 'leads out of its root; it is not read');
    // A pipe that is called SKILL.md must not block the bot.
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

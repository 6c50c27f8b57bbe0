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
import type { Diagnostic } from '../core/diagnostic.ts';
import { createGiveWay } from '../lib/async/yield-to-event-loop.ts';
import { readSkillFile } from './read-skill-file.ts';
import { isInside, scanRoot } from './scan-root.ts';
import type { SkillStore, StoredBytes, StoredSkill } from './skill-store.ts';

/** Skills in a folder (D4, D5). Its calls are short, and made one a turn of the loop by those who read many. */
export function fileSkillStore(root: string): SkillStore {
  let folders: readonly string[] = [];
  return Object.freeze({
    async list() {
      const scan = await scanRoot(root);
      folders = scan.folders;
      const pace = createGiveWay();
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

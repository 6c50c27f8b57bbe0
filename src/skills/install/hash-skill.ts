import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** What a skill's folder holds, to the byte. */
export type SkillHash = Readonly<{
  /** SHA-256 in hex over every file's path and content: one changed byte anywhere changes it. */
  hash: string;
  /** In path order. `sha256` is that of the content, in hex; of where it leads, for a link. */
  files: readonly Readonly<{ path: string; size: number; sha256: string }>[];
}>;

/** A folder with more than this is hashed no further: it matches nothing. */
const fileLimit = 1_000;
const byteLimit = 20_000_000;

/** Hashes everything below a folder, dot entries included; links are not followed. Undefined if it is absent, holds what is no file, or is too large. */
export function hashSkill(directory: string): SkillHash | undefined {
  const files: SkillHash['files'][number][] = [];
  let bytes = 0;
  const enter = (folder: string, way: string): boolean =>
    readdirSync(folder, { withFileTypes: true }).every((entry) => {
      const [path, place] = [way + entry.name, join(folder, entry.name)];
      if (entry.isDirectory()) return enter(place, `${path}/`);
      if (!entry.isFile() && !entry.isSymbolicLink()) return false;
      const content = entry.isFile() ? readFileSync(place) : Buffer.from(`link to ${readlinkSync(place)}`);
      bytes += content.length;
      files.push({ path, size: content.length, sha256: sha256(content) });
      return files.length <= fileLimit && bytes <= byteLimit;
    });
  try {
    if (!enter(directory, '')) return undefined;
  } catch (error) {
    // Gone or closed off, perhaps between two looks: what can't be read can't be vouched for.
    if (error instanceof Error && 'syscall' in error) return undefined;
    throw error;
  }
  const sorted = files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const lines = sorted.map(({ path, sha256: hash }) => JSON.stringify([path, hash]));
  return { hash: sha256(lines.join('\n')), files: sorted };
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

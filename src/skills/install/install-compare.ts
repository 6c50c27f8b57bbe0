import { asksMore } from './install-asks.ts';
import type { Offer, OfferedFile } from './install-offers.ts';
import { compareLines, type ComparedLine } from './compare-lines.ts';
import { decodeText } from '../../lib/text/decode-text.ts';
import { sizeText } from './install-limits.ts';
import { readPinned } from './lock-check.ts';
import { contentHash, installedFolder, type LockedSkill } from './lock-file.ts';
import { skillFileOf } from './locked-skill-store.ts';
import { judge, readLimit } from '../parse/read-roots.ts';

/** How one file differs from what was agreed to. */
export type FileChange = Readonly<{
  path: string;
  kind: 'added' | 'changed' | 'removed';
  /** What changed in a text; for anything else, or where the agreed bytes are gone, a sentence. */
  shown: readonly ComparedLine[] | string;
}>;

/** How a skill in its source differs from what was agreed to of it. */
export type SkillChange = Readonly<{ files: readonly FileChange[]; asksMore: readonly string[] }>;

/** Whether these are other bytes than what was agreed to. */
export function isChanged(locked: LockedSkill, { name, files }: Pick<Offer, 'name' | 'files'>): boolean {
  return contentHash(locked) !== contentHash({ name, files });
}

/** Compares what a source offers with what is installed (D6). */
export function compareSkill(dataDir: string, locked: LockedSkill, offer: Offer): SkillChange {
  const folder = installedFolder(dataDir, locked);
  const agreed = (path: string): Uint8Array | undefined => {
    const read = readPinned(folder, locked, path);
    return read.ok ? read.bytes : undefined;
  };
  const before = new Map(locked.files.map(({ path, sha256 }) => [path, sha256]));
  const after = new Map(offer.files.map((file) => [file.path, file]));
  const files: FileChange[] = [];
  for (const path of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const file = after.get(path);
    if (before.get(path) === file?.sha256) continue;
    const kind = file === undefined ? 'removed' : before.has(path) ? 'changed' : 'added';
    files.push({ path, kind, shown: show(kind === 'added' ? Buffer.alloc(0) : agreed(path), file) });
  }
  const skillFile = skillFileOf(locked);
  const bytes = agreed(skillFile);
  const place = { path: skillFile, directory: folder, origin: 'installed' as const };
  const was =
    bytes === undefined
      ? undefined
      : judge(
          { ...place, bytes: bytes.subarray(0, readLimit), cut: bytes.length > readLimit },
          { diagnostics: [] },
          false,
        );
  const more = was?.ok === true ? asksMore(was.definition, offer.definition) : unknown;
  return { files, asksMore: more };
}

const unknown = ['what was agreed to can no longer be read here: look at all that it asks for'];

function show(
  before: Uint8Array | undefined,
  after: OfferedFile | undefined,
): readonly ComparedLine[] | string {
  if (before === undefined) return 'the agreed bytes are no longer here to compare with';
  const texts = [before, after?.bytes ?? Buffer.alloc(0)].map((bytes) => decodeText(bytes, false));
  const [left, right] = texts;
  if (left !== undefined && right !== undefined && !left.includes('\0') && !right.includes('\0'))
    return compareLines(left, right);
  if (after === undefined) return `no text, ${sizeText(before.length)}`;
  return `no text, ${sizeText(before.length)} before, ${sizeText(after.bytes.length)} now, sha256 ${after.sha256}`;
}

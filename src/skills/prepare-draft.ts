import { lstat, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { SkillDraft } from './check-draft.ts';
import { hashSkill } from './install/hash-skill.ts';
import { marker } from './written-skills.ts';

/** A draft that lies beside its place, complete. */
export type PreparedDraft = Readonly<{
  /** Hash of what will be in force. */
  hash: string;
  /** Puts it in its place; what was there before is kept for `restoreReplaced` where `keep` says so. */
  switchIn(keep: boolean): Promise<void>;
  discard(): Promise<void>;
}>;

const markerText =
  'The bot wrote this skill. It stays off until an owner enables exactly these files (skillet skill enable).\n';

/** Writes a checked draft aside, in the skills folder `root` itself so that one rename puts it in its place. Dot entries are no skills (D4). */
export async function prepareDraft(root: string, draft: SkillDraft): Promise<PreparedDraft> {
  await mkdir(root, { recursive: true });
  const aside = await mkdtemp(path.join(root, '.writing-'));
  const put = async (file: string, content: string): Promise<void> => {
    const place = path.join(aside, file);
    await mkdir(path.dirname(place), { recursive: true });
    // A fresh folder holds no links; `wx` says so.
    await writeFile(place, content, { flag: 'wx' });
  };
  await put('SKILL.md', draft.content);
  await put(marker, markerText);
  for (const { path: file, content } of draft.files) await put(file, content);
  const hash = hashSkill(aside)?.hash;
  if (hash === undefined) throw new Error(`${aside} cannot be read back`);
  const target = path.join(root, draft.name);
  return {
    hash,
    async switchIn(keep) {
      const before = replacedPath(root, draft.name);
      if (await isThere(target)) {
        // A version that was kept gives way only to one that is worth keeping.
        const away = keep ? before : `${aside}-old`;
        await mkdir(path.dirname(away), { recursive: true });
        await rm(away, { recursive: true, force: true });
        await rename(target, away);
      }
      await rename(aside, target);
      await rm(`${aside}-old`, { recursive: true, force: true });
    },
    discard: () => rm(aside, { recursive: true, force: true }),
  };
}

/** Takes a skill that the bot wrote away; the version before it comes back where that has the hash `wanted`. True when it did. */
export async function removeWritten(
  root: string,
  name: string,
  wanted: string | undefined,
): Promise<boolean> {
  const [target, before] = [path.join(root, name), replacedPath(root, name)];
  await rm(target, { recursive: true, force: true });
  const comesBack = wanted !== undefined && hashSkill(before)?.hash === wanted;
  if (comesBack) await rename(before, target);
  else await rm(before, { recursive: true, force: true });
  return comesBack;
}

/** Removes the version that was kept in case the new one is not wanted. */
export function dropReplaced(root: string, name: string): Promise<void> {
  return rm(replacedPath(root, name), { recursive: true, force: true });
}

/** Whether anything lies there, a broken link too. */
export async function isThere(place: string): Promise<boolean> {
  const found = await lstat(place).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return found !== undefined;
}

function replacedPath(root: string, name: string): string {
  return path.join(root, '.replaced', name);
}

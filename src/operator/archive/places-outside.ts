import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../../config/complete-config.ts';
import { hasCode } from '../../lib/has-code.ts';
import { isInside } from '../../skills/scan-root.ts';
import { storeMember, type ArchivePart } from './archive-parts.ts';

/** A place of an archive that is not inside the folder that a person named. `why` is what leads there. */
export type PlaceOutside = Readonly<{ name: string; at: string; why: string }>;

/**
 * Finds places outside `folder`. Anybody can make an archive, so its config alone must not decide on such places (S18).
 */
export function placesOutside(
  parts: readonly ArchivePart[],
  folder: string,
  config: Config,
): readonly PlaceOutside[] {
  const target = realPlace(folder);
  return parts.flatMap((part) => {
    const { name, at } = part;
    const real = realPlace(at);
    // The folder itself counts as outside, because its draft would lie beside it.
    if (real !== target && isInside(target, real)) return [];
    const isLinked = at !== folder && isInside(folder, at);
    if (isLinked) return [{ name, at: real, why: `a link in ${folder} leads there` }];
    return [{ name, at, why: `${keyOf(part, config)} of the archive's config leads there` }];
  });
}

/** The key of the config that leads to a part. Files beside the config are never outside but by a link. */
function keyOf({ name }: ArchivePart, { capabilities }: Config): string {
  if (name === storeMember) return '[store] url';
  if (name === 'user-skills') return '[skills] user_dir';
  if (name === 'data/capabilities.key' && capabilities.keyFile !== undefined)
    return '[capabilities] key_file';
  return name.startsWith('workspace/') ? '[bot] workspace' : '[bot] data_dir';
}

/** Where something that is written there would really be, even if it or its folders do not exist yet. */
function realPlace(at: string): string {
  try {
    return realpathSync(at);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  const isLink = lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const real = realPlace(path.dirname(at));
  return isLink ? realPlace(path.resolve(real, readlinkSync(at))) : path.join(real, path.basename(at));
}

import { randomUUID } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { open, utimes } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import type { Config } from '../../config/complete-config.ts';
import { formatConfigProblem } from '../../config/config-problem.ts';
import { parseConfig } from '../../config/parse-config.ts';
import type { KeyPath } from '../../config/section.ts';
import { OperatorError } from '../../core/errors.ts';
import type { FoundMember } from '../../lib/files/tar.ts';
import { oneLine } from '../../lib/text/text.ts';
import { makeFolders } from '../../store/make-folders.ts';
import { checkBackup, journalEndings } from '../../store/sqlite/restore-file.ts';
import type { ArchiveHead } from './archive-head.ts';
import { archiveParts, storeFileOf, storeMember, type ArchivePart } from './archive-parts.ts';
import { placesOutside, type PlaceOutside } from './places-outside.ts';
import { openArchive, type OpenArchive } from './read-archive.ts';

export type RestoredArchive = Readonly<{
  head: ArchiveHead;
  config: string | undefined;
  restored: readonly Pick<ArchivePart, 'group' | 'name' | 'at'>[];
  /** Shared places that existed already and stay as they are. */
  kept: readonly Pick<ArchivePart, 'name' | 'at'>[];
}>;

type Surroundings = Readonly<{
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  /** Called with all places outside `folder` before anything is written. Undefined: such places are refused. */
  elsewhere?: (places: readonly PlaceOutside[]) => void;
}>;

/**
 * Restores an archive to where its config, in `folder`, says (L16). Places outside `folder` need `elsewhere` (S18).
 * Everything is first checked and written beside its place. If it throws OperatorError, nothing is left behind. It
 * overwrites nothing.
 */
export async function restoreArchive(
  file: string,
  folder: string,
  around: Surroundings,
): Promise<RestoredArchive> {
  const archive = await openArchive(file);
  const { head } = archive;
  try {
    const config = await configOf(archive, folder, around);
    const plan = planOf(archive, config);
    const kept = plan.filter(({ part }) => part.shared === true && isTaken(part.at));
    const rest = plan.filter((one) => !kept.includes(one));
    const taken = rest.filter(({ part }) => isTaken(part.at)).map(({ part }) => part.at);
    if (taken.length > 0)
      throw new OperatorError(
        `Nothing was restored, because this is there already: ${taken.join(', ')}. Move it away, or name an empty folder: --to FOLDER.`,
      );
    const outside = placesOutside(
      rest.map(({ part }) => part),
      folder,
      config,
    );
    if (outside.length > 0) {
      if (around.elsewhere === undefined) throw outsideError(folder, outside);
      around.elsewhere(outside);
    }
    await putInPlace(archive, rest);
    const plain = ({ part: { group, name, at } }: Planned) => ({ group, name, at });
    return { head, config: config.path, restored: rest.map(plain), kept: kept.map(plain) };
  } catch (error) {
    if (error instanceof OperatorError || !(error instanceof Error)) throw error;
    throw new OperatorError(`Nothing was restored: ${oneLine(error.message, 1_000)}.`, { cause: error });
  } finally {
    await archive.close();
  }
}

function outsideError(folder: string, outside: readonly PlaceOutside[]): OperatorError {
  return new OperatorError(
    [
      `Nothing was restored, because the archive would write outside ${folder}:`,
      ...outside.map(lineOfPlace),
      'If you trust the archive and want these places, say --elsewhere. Otherwise take what you need out of it with tar -xf.',
    ].join('\n'),
  );
}

export function lineOfPlace({ name, at, why }: PlaceOutside): string {
  return `  ${name} to ${at}: ${why}`;
}

/** Writes only the archive's copy of the store to a new file (0600). Throws OperatorError. */
export async function unpackStore(file: string, to: string): Promise<void> {
  const archive = await openArchive(file);
  try {
    const member = archive.members.find(({ name }) => name === storeMember);
    if (member === undefined) throw new OperatorError(`${file} holds no copy of a store.`);
    await unpack(archive, member, to, 'file');
  } finally {
    await archive.close();
  }
}

/**
 * Reads the archive's config as it would be on this machine: relative to its new folder, with the variables that are
 * set here.
 */
async function configOf(archive: OpenArchive, folder: string, { env, home }: Surroundings): Promise<Config> {
  const { config: name, store } = archive.head;
  const text = name === null ? '' : await archive.text(`config/${name}`);
  const file = name === null ? undefined : path.join(folder, name);
  const secrets = parseEnv((await archive.text('config/.env')) ?? '');
  const places = ['skills.user_dir', 'capabilities.key_file', ...(store === 'copied' ? ['store.url'] : [])];
  const mayLack = (key: KeyPath): boolean => key[0] !== 'bot' && !places.includes(key.join('.'));
  const parsed = parseConfig(text ?? '', {
    ...{ file, home, cwd: folder, mayLack },
    env: { ...secrets, ...env },
  });
  if (parsed.ok) return parsed.config;
  const problems = parsed.problems.map(formatConfigProblem).join('\n');
  throw new OperatorError(`Nothing was restored: the config in the archive can't be used here.\n${problems}`);
}

type Planned = Readonly<{ part: ArchivePart; members: readonly FoundMember[] }>;

function planOf({ head, members }: OpenArchive, config: Config): readonly Planned[] {
  const store = storeFileOf(config);
  if (head.store === 'copied' && store === undefined)
    throw new OperatorError(
      'Nothing was restored: the archive holds the file of an SQLite store, and [store] url names another one here.',
    );
  const parts: readonly ArchivePart[] = [
    ...archiveParts(config),
    ...(store === undefined ? [] : [{ name: storeMember, at: store, kind: 'file', group: 'store' } as const]),
  ];
  // Commands print places, and the archive must not write to the terminal with them (S18).
  const odd = parts.find(({ at }) => /\p{Cc}/u.test(at));
  if (odd !== undefined)
    throw new OperatorError(
      `Nothing was restored: the place of ${odd.name} in the archive's config has control characters.`,
    );
  const partOf = ({ name }: FoundMember) =>
    parts.find((part) => (part.kind === 'file' ? name === part.name : name.startsWith(`${part.name}/`)));
  const unknown = members.find((member) => partOf(member) === undefined);
  if (unknown !== undefined)
    throw new OperatorError(
      `Nothing was restored: this version does not know what ${oneLine(unknown.name, 1_000)} in the archive is.`,
    );
  return parts
    .map((part) => ({ part, members: members.filter((member) => partOf(member) === part) }))
    .filter((one) => one.members.length > 0);
}

/** Whether something is there. An empty folder does not count; the journal of a store and a broken link do. */
function isTaken(at: string): boolean {
  if (journalEndings.some((end) => existsSync(at + end))) return true;
  const found = statSync(at, { throwIfNoEntry: false }) ?? lstatSync(at, { throwIfNoEntry: false });
  return found !== undefined && !(found.isDirectory() && readdirSync(at).length === 0);
}

async function putInPlace(archive: OpenArchive, plan: readonly Planned[]): Promise<void> {
  const undo: (() => void)[] = [];
  const ending = `.restoring-${randomUUID().slice(0, 8)}`;
  try {
    for (const { part, members } of plan) {
      const made = makeFolders(path.dirname(part.at), 0o700);
      undo.push(() => made.toReversed().forEach((one) => rmdirSync(one)));
      undo.push(() => rmSync(part.at + ending, { recursive: true }));
      for (const member of members)
        await unpack(archive, member, part.at + ending + member.name.slice(part.name.length), part.kind);
      if (part.name === storeMember) checkBackup(part.at + ending);
    }
    for (const { part } of plan) {
      // This may have come into existence since it was checked.
      if (isTaken(part.at)) throw new OperatorError(`Nothing was restored: ${part.at} came to be meanwhile.`);
      renameSync(part.at + ending, part.at);
      undo.push(() => rmSync(part.at, { recursive: true }));
    }
  } catch (error) {
    takeBack(undo);
    throw error;
  }
}

/** Undoes what was done. What can't be undone, such as a folder that others use by now, does not keep the rest. */
function takeBack(undo: readonly (() => void)[]): void {
  for (const back of undo.toReversed()) {
    try {
      back();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
  }
}

async function unpack(
  archive: OpenArchive,
  member: FoundMember,
  to: string,
  kind: ArchivePart['kind'],
): Promise<void> {
  makeFolders(path.dirname(to), 0o700);
  const handle = await open(to, 'wx', 0o600);
  try {
    for await (const piece of archive.pieces(member)) await handle.writeFile(piece);
    // Other users must never be able to write it.
    await handle.chmod(member.mode & 0o755);
    if (kind === 'file') await handle.sync();
  } finally {
    await handle.close();
  }
  const at = new Date(member.mtimeMs);
  await utimes(to, at, at);
}

import type { Skill } from '../../core/skill.ts';
import { readSkillBytes } from '../../skills/skill-files.ts';
import { oneLine } from '../../lib/text/text.ts';
import { openInside } from '../../lib/files/open-inside.ts';

/** A folder that file tools see, and nothing beside their places (T13). */
export type FileScope = Readonly<
  | {
      kind: 'scratch' | 'chat';
      /** Paths that lead here, as commands and models know them; the first is what messages call it. */
      seen: readonly [string, ...string[]];
      /** Absolute path on the host; the folder may not be there yet. */
      host: string;
    }
  | { kind: 'skill'; seen: readonly [string, ...string[]]; skill: Pick<Skill, 'directory' | 'pin'> }
>;

/** The first is where relative paths begin. */
export type FileScopes = readonly [FileScope, ...FileScope[]];

/** Where a path leads: a place and the names from there on, none for the place itself. */
export type Found = Readonly<{ ok: true; place: FileScope; names: readonly string[] } | NotFound>;
type NotFound = Readonly<{ ok: false; code: 'INVALID_PATH' | 'FILE_NOT_FOUND'; message: string }>;

/** Reads a path that a model wrote. A malformed one is told apart; outside of all places is no other answer than absent (R4). */
export function findInScope(places: FileScopes, path: string): Found {
  const problem = malformed(path);
  if (problem !== undefined) return { ok: false, code: 'INVALID_PATH', message: problem };
  const names = (below: string): readonly string[] =>
    below.split('/').filter((name) => name !== '' && name !== '.');
  if (!path.startsWith('/')) return { ok: true, place: places[0], names: names(path) };
  for (const place of places) {
    const seen = place.seen.find((each) => path === each || path.startsWith(`${each}/`));
    if (seen !== undefined) return { ok: true, place, names: names(path.slice(seen.length)) };
  }
  return absent(places, path);
}

/** The one answer for what is not there, is a link, or lies elsewhere. */
export function absent(places: FileScopes, path: string): NotFound {
  const where = places.map(({ seen: [name] }) => name).join(', ');
  const written = JSON.stringify(oneLine(path, 200));
  return { ok: false, code: 'FILE_NOT_FOUND', message: `there is no file ${written}; files are in ${where}` };
}

/** The open file at a path of a folder of the run or conversation. Undefined if `absent` is the answer. */
export function openIn(
  place: Exclude<FileScope, { kind: 'skill' }>,
  names: readonly string[],
): number | undefined {
  return openInside({ root: place.host, names }, { alone: true });
}

/** All of a skill's file, at most `limit` bytes. */
export function readOfSkill(
  { skill }: Extract<FileScope, { kind: 'skill' }>,
  names: readonly string[],
  limit: number,
): ReturnType<typeof readSkillBytes> {
  return readSkillBytes(skill, names.join('/'), limit);
}

function malformed(path: string): string | undefined {
  if (path.trim() === '' || path.length > 1024) return 'give the path of a file';
  if (path.includes('\0')) return 'the path holds a NUL';
  if (path.includes('\\')) return 'write "/" between folders, no "\\"';
  if (path.split('/').includes('..')) return 'the path must not hold ".."';
  return undefined;
}

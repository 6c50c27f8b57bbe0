import { accessSync, constants, lstatSync, statSync } from 'node:fs';
import path from 'node:path';
import { defined } from '../lib/json/json-values.ts';
import type { SandboxRequest } from './sandbox.ts';

/** Where a sandbox looks for programs. */
export const searchedFolders = ['/usr/local/bin', '/usr/bin', '/bin'];
/** Where programs lent by the host are mounted. */
export const ownPrograms = '/run/skillet/bin';
/** The bot's own Node: in every sandbox, before any other. */
export const nodeSeen = `${ownPrograms}/node`;

/** Files by which `localhost` is found. A system that has them keeps its own; builds add them. */
export const nameSettings = [
  ['/etc/hosts', '127.0.0.1 localhost\n::1 localhost\n'],
  ['/etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'],
] as const;

/** Files by which programs find the name of their user: `skillet`. */
export function userSettings(uid: number, gid: number): readonly (readonly [place: string, text: string])[] {
  return [
    ['/etc/passwd', `skillet:x:${uid}:${gid}::/scratch:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n`],
    ['/etc/group', `skillet:x:${gid}:\nnogroup:x:65534:\n`],
  ];
}

/** The environment of a command: what is declared, and the sandbox's own over it. */
export function sandboxEnvironment(
  declared: Readonly<Record<string, string>>,
  { skillDirectory }: Pick<SandboxRequest, 'skillDirectory'>,
): Readonly<Record<string, string>> {
  return defined({
    // Not asked if declared: the first time costs 25 ms and 8 MB (B4).
    TZ: declared['TZ'] === undefined ? new Intl.DateTimeFormat().resolvedOptions().timeZone : undefined,
    // Public skills expect their own folder as working directory: Python finds their modules there.
    PYTHONPATH: skillDirectory === undefined ? undefined : '/skill',
    ...declared,
    PATH: [ownPrograms, ...searchedFolders].join(':'),
    HOME: '/scratch',
    TMPDIR: '/tmp',
    USER: 'skillet',
    LANG: 'C.UTF-8',
  });
}

/** The first program of this name on the host that may be run. `searchPath` is written `a:b`; unreadable folders have none. */
export function findProgram(name: string, searchPath: string): string | undefined {
  return searchPath
    .split(':')
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, name))
    .find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && ['EACCES', 'ENOTDIR'].includes(String(error.code)))
      return false;
    throw error;
  }
}

/** Whether the system in `root` has a program in one of these folders. Links count: they may lead within it. */
export function hasProgram(root: string, folders: readonly string[], program: string): boolean {
  const places = program.includes('/') ? [program] : folders.map((folder) => path.join(folder, program));
  return places.some((place) => {
    const found = lstatSync(path.join(root, place), { throwIfNoEntry: false });
    return found !== undefined && (found.isSymbolicLink() || (found.isFile() && (found.mode & 0o111) !== 0));
  });
}

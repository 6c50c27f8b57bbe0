import { accessSync, constants, lstatSync, statSync } from 'node:fs';
import path from 'node:path';
import { defined } from '../lib/json/json-values.ts';
import type { SandboxRequest } from './sandbox.ts';
import { hasCode } from '../lib/has-code.ts';

export const searchedFolders = ['/usr/local/bin', '/usr/bin', '/bin'];
export const ownPrograms = '/run/skillet/bin';
/** Where the bot's Node is in every sandbox. It is first in PATH. */
export const nodeSeen = `${ownPrograms}/node`;

/** Files that make `localhost` resolve. Systems that have them keep their own. */
export const nameSettings = [
  ['/etc/hosts', '127.0.0.1 localhost\n::1 localhost\n'],
  ['/etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'],
] as const;

/** Files that make programs find the user name `skillet`. */
export function userSettings(uid: number, gid: number): readonly (readonly [place: string, text: string])[] {
  return [
    ['/etc/passwd', `skillet:x:${uid}:${gid}::/scratch:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n`],
    ['/etc/group', `skillet:x:${gid}:\nnogroup:x:65534:\n`],
  ];
}

/** Without a network, these make programs ask once, so that they fail at once and say why. */
const asksOnce = {
  npm_config_fetch_retries: '0',
  npm_config_update_notifier: 'false',
  npm_config_audit: 'false',
  PIP_RETRIES: '0',
  PIP_DEFAULT_TIMEOUT: '5',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  UV_HTTP_RETRIES: '0',
  CARGO_NET_RETRY: '0',
};

export function sandboxEnvironment(
  declared: Readonly<Record<string, string>>,
  { skillDirectory, network }: Pick<SandboxRequest, 'skillDirectory' | 'network'>,
): Readonly<Record<string, string>> {
  return defined({
    // Skipped if declared, because the first call costs 25 ms and 8 MB (B4).
    TZ: declared['TZ'] === undefined ? new Intl.DateTimeFormat().resolvedOptions().timeZone : undefined,
    // Public skills import their Python modules from their own folder.
    PYTHONPATH: skillDirectory === undefined ? undefined : '/skill',
    ...(network.length === 0 ? asksOnce : {}),
    ...declared,
    PATH: [ownPrograms, ...searchedFolders].join(':'),
    HOME: '/scratch',
    TMPDIR: '/tmp',
    USER: 'skillet',
    LANG: 'C.UTF-8',
  });
}

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
    if (hasCode(error, 'EACCES', 'ENOTDIR')) return false;
    throw error;
  }
}

/** Whether a program is in one of the folders. Links count, because they may lead within `root`. */
export function hasProgram(root: string, folders: readonly string[], program: string): boolean {
  const places = program.includes('/') ? [program] : folders.map((folder) => path.join(folder, program));
  return places.some((place) => {
    const found = lstatSync(path.join(root, place), { throwIfNoEntry: false });
    return found !== undefined && (found.isSymbolicLink() || (found.isFile() && (found.mode & 0o111) !== 0));
  });
}

import { closeSync, lstatSync, readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { Folders } from '../folders/folders.ts';
import { enterFolder, openInside, unlessRefused } from '../lib/files/open-inside.ts';
import { writeInside } from '../lib/files/write-inside.ts';
import { nameOfChat } from '../tools/built-in/run-folders.ts';

const mostFiles = 2_000;

/**
 * Copies files of a chat's folder into the folder of its restricted skills: those that are missing there or older (S16).
 * Nothing goes the other way. Follows no links.
 */
export async function bringShared(
  { shared, own }: Readonly<{ shared: string; own: string }>,
  folders: Folders,
): Promise<void> {
  await folders.use([nameOfChat(shared)], 'reads', () =>
    folders.use([nameOfChat(own)], 'changes', () => copyNewer(shared, own)),
  );
}

async function copyNewer(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  const waiting: (readonly string[])[] = [[]];
  let count = 0;
  for (let way = waiting.pop(); way !== undefined && count < mostFiles; way = waiting.pop()) {
    const folder = enterFolder(from, way);
    if (folder === undefined) continue;
    try {
      for (const name of unlessRefused(() => readdirSync(folder.self)) ?? []) {
        const stats = unlessRefused(() => lstatSync(folder.at(name)));
        const names = [...way, name];
        if (stats?.isDirectory() === true) waiting.push(names);
        else if (stats?.isFile() === true && stats.mtimeMs > changedAt(to, names)) copy(from, to, names);
        if (++count >= mostFiles) break;
        await setImmediate();
      }
    } finally {
      folder.leave();
    }
  }
}

/** When the file was changed (Unix ms). `-Infinity` if it does not exist. */
function changedAt(root: string, names: readonly string[]): number {
  const folder = enterFolder(root, names.slice(0, -1));
  if (folder === undefined) return -Infinity;
  try {
    return unlessRefused(() => lstatSync(folder.at(names.at(-1) ?? '')).mtimeMs) ?? -Infinity;
  } finally {
    folder.leave();
  }
}

/** Copies through a descriptor, so that a file that is swapped for a link meanwhile is not followed. */
function copy(from: string, to: string, names: readonly string[]): void {
  const descriptor = openInside({ root: from, names }, { alone: true });
  if (descriptor === undefined) return;
  try {
    writeInside({ root: to, names }, { copyOf: `/dev/fd/${descriptor}` });
  } finally {
    closeSync(descriptor);
  }
}

import { open, readdir, readlink, statfs } from 'node:fs/promises';

const pipeBytes = 65_536;
/** How many pipes are free, because shells, job servers and Node need some. */
const freePipes = 64;
/** Bytes that the kernel keeps for a name in a file system in memory. */
const nameBytes = 1_024;
const tmpfs = 0x01021994;

/** A list of memory areas with more letters is not read to its end, and counts as the longest that Linux allows. */
const longList = 262_144;
const longestAreas = 16 * 1_048_576;
/** Bytes that the kernel keeps for each letter of the list that `/proc` shows, as measured on Linux 6.18. */
const perLetter = { areas: 4, watchedFiles: 14, locks: 6 };
/** Letters that the list has for each open file. */
const usualLetters = 128;

/**
 * Bytes that the kernel holds for processes besides their pages: pipes, memory areas, file locks, watched files, and
 * names in their own `/tmp` and `/dev/shm`. What can't be read counts as nothing. Counting stops above `most`.
 */
export async function measureKernel(ids: readonly number[], most: number): Promise<number> {
  const pipes = new Set<string>();
  const ofPipes = (): number => Math.max(0, pipes.size - freePipes) * pipeBytes;
  let bytes = (await namesInMemory(ids.at(-1) ?? 0)) * nameBytes;
  for (const id of ids) {
    const areas = await lengthOf(`/proc/${id}/maps`, longList);
    bytes += areas < longList ? areas * perLetter.areas : longestAreas;
    for (const file of (await unlessGone(readdir(`/proc/${id}/fd`))) ?? []) {
      const target = (await unlessGone(readlink(`/proc/${id}/fd/${file}`))) ?? '';
      if (target.startsWith('pipe:')) pipes.add(target);
      if (ofPipes() > most) return ofPipes();
      if (/^(?:pipe|socket):/.test(target)) continue;
      const letters = await lengthOf(`/proc/${id}/fdinfo/${file}`);
      const each = target === 'anon_inode:inotify' ? perLetter.watchedFiles : perLetter.locks;
      bytes += Math.max(0, letters - usualLetters) * each;
    }
    if (bytes > most) break;
  }
  return bytes + ofPipes();
}

/** Names in a process's file systems in memory; 0 if it shares the bot's mounts. */
async function namesInMemory(id: number): Promise<number> {
  const mounts = (of: string | number): Promise<string | undefined> =>
    unlessGone(readlink(`/proc/${of}/ns/mnt`));
  const its = await mounts(id);
  if (its === undefined || its === (await mounts('self'))) return 0;
  let names = 0;
  for (const place of ['/tmp', '/dev/shm']) {
    const found = await unlessGone(statfs(`/proc/${id}/root${place}`));
    if (found?.type === tmpfs) names += found.files - found.ffree;
  }
  return names;
}

/** Length of a file, which is read in pieces up to `most`, because a list may be long. */
async function lengthOf(name: string, most = Infinity): Promise<number> {
  const file = await unlessGone(open(name));
  if (file === undefined) return 0;
  try {
    const piece = Buffer.alloc(65_536);
    let length = 0;
    let read: number;
    do {
      read = (await unlessGone(file.read(piece)))?.bytesRead ?? 0;
      length += read;
    } while (read > 0 && length < most);
    return length;
  } finally {
    await file.close();
  }
}

/** Undefined if the process has ended, which it may do at any time. */
async function unlessGone<T>(look: Promise<T>): Promise<T | undefined> {
  try {
    return await look;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

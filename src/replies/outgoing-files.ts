import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Artifact } from '../core/tool.ts';
import { fileType, typeBytes } from '../lib/files/file-type.ts';
import { folderSize } from '../lib/files/folder-size.ts';

/** The bytes of files on their way, out of reach of every sandbox, until they were sent or given up (Q6, T12). */
export type OutgoingFiles = Readonly<{
  /**
   * Keeps the bytes (0600), whole or not at all: they are on the disk when it resolves. Under an id that is there already
   * nothing is written: it is the same file handed over again. More than `largest` bytes are not kept, and nothing where
   * files of 2 GB wait already (`full`): a platform that takes nothing must not fill the disk.
   */
  keep(
    id: string,
    data: Artifact['data'],
    name: string,
    largest: number,
  ): Promise<Kept | 'too large' | 'full'>;
  /** Where the bytes are; nothing where they are not kept here (any more). */
  find(id: string): Promise<string | undefined>;
  remove(id: string): Promise<void>;
  /** Removes what was kept before that and never sent. */
  tidy(before: number): Promise<void>;
}>;

export type Kept = Readonly<{ size: number; mime: string }>;

/** In a folder of the workspace, which several processes may share (Q9). */
export function createOutgoingFiles(workspace: string, mostHeld = 2_000_000_000): OutgoingFiles {
  const folder = path.join(workspace, 'outgoing');
  const pathOf = (id: string): string => path.join(folder, id);

  async function look(file: string, name: string): Promise<Kept | undefined> {
    const handle = await open(file).catch(ifAbsent);
    if (handle === undefined) return undefined;
    try {
      const { size } = await handle.stat();
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(typeBytes), 0, typeBytes, 0);
      return { size, mime: fileType(name, buffer.subarray(0, bytesRead)).mime };
    } finally {
      await handle.close();
    }
  }

  return {
    async keep(id, data, name, largest) {
      const before = await look(pathOf(id), name);
      if (before !== undefined) return before;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      if (((await folderSize(folder, mostHeld)) ?? 0) > mostHeld) return 'full';
      const draft = `${pathOf(id)}.${randomBytes(4).toString('hex')}.part`;
      try {
        const handle = await open(draft, 'wx', 0o600);
        const whole = await write(handle, data, largest).finally(() => handle.close());
        if (!whole) return 'too large';
        await rename(draft, pathOf(id));
      } finally {
        await rm(draft, { force: true });
      }
      return (await look(pathOf(id), name)) ?? Promise.reject(new Error('a file was removed as it was kept'));
    },
    async find(id) {
      const found = await stat(pathOf(id)).catch(ifAbsent);
      return found === undefined ? undefined : pathOf(id);
    },
    remove: (id) => rm(pathOf(id), { force: true }),
    async tidy(before) {
      for (const name of (await readdir(folder).catch(ifAbsent)) ?? []) {
        const file = pathOf(name);
        const { mtimeMs = before } = (await stat(file).catch(ifAbsent)) ?? {};
        if (mtimeMs < before) await rm(file, { force: true });
      }
    },
  };
}

/** False when there was more than `largest`. */
async function write(handle: FileHandle, data: Artifact['data'], largest: number): Promise<boolean> {
  let left = largest;
  for await (const chunk of chunksOf(data)) {
    left -= chunk.length;
    if (left < 0) return false;
    await handle.writeFile(chunk);
  }
  await handle.sync();
  return true;
}

async function* chunksOf(data: Artifact['data']): AsyncGenerator<Uint8Array> {
  if (typeof data === 'string') yield Buffer.from(data);
  else if (data instanceof Uint8Array) yield data;
  else yield* data;
}

function ifAbsent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}

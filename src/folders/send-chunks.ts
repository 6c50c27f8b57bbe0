import { hash } from 'node:crypto';
import { closeSync, fstatSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { openInside } from '../lib/files/open-inside.ts';
import { chunkSize, type StoredFiles } from '../store/stored-files.ts';

const readSome = promisify(read);
/** How many bytes are kept in memory. The next line limits statements at the same time. */
const window = 8 * chunkSize;
const atOnce = 4;

export type SendChunks = Readonly<{
  /** Sends the chunks of a file that the store lacks. Undefined if there is no such file any more. */
  send(
    root: string,
    path: string,
  ): Promise<Readonly<{ size: number; chunks: readonly string[] }> | undefined>;
  /** Resolves once everything that was sent is stored. */
  flush(): Promise<void>;
}>;

/** Sends files without following links. The store gets content before any folder names it. */
export function createSendChunks(files: Pick<StoredFiles, 'missing' | 'put'>): SendChunks {
  const held = new Map<string, Buffer>();
  let size = 0;

  async function flush(): Promise<void> {
    const missing = await (held.size === 0 ? [] : files.missing([...held.keys()]));
    const queue = missing.values();
    const work = async (): Promise<void> => {
      for (const chunk of queue) await files.put(chunk, held.get(chunk) ?? Buffer.alloc(0));
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    held.clear();
    size = 0;
  }

  return {
    flush,
    async send(root, path) {
      const descriptor = openInside({ root, names: path.split('/') }, { alone: false });
      if (descriptor === undefined) return undefined;
      try {
        const chunks: string[] = [];
        let at = 0;
        // Reads no more than the file had at first, because a command may continue to write.
        for (let left = fstatSync(descriptor).size; left > 0;) {
          const bytes = await pieceAt(descriptor, at, Math.min(left, chunkSize));
          if (bytes.length === 0) break;
          const name = hash('sha256', bytes);
          chunks.push(name);
          if (!held.has(name)) size += bytes.length;
          held.set(name, bytes);
          at += bytes.length;
          left -= bytes.length;
          if (size >= window) await flush();
        }
        return { size: at, chunks };
      } finally {
        closeSync(descriptor);
      }
    },
  };
}

async function pieceAt(descriptor: number, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  while (at < length) {
    const { bytesRead } = await readSome(descriptor, bytes, at, length - at, from + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return bytes.subarray(0, at);
}

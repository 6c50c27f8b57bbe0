import { hash } from 'node:crypto';
import { closeSync, fstatSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { openInside } from '../lib/files/open-inside.ts';
import { chunkSize, type StoredFiles } from '../store/stored-files.ts';

const readSome = promisify(read);
/** Bytes in memory, and statements at a time. */
const window = 8 * chunkSize;
const atOnce = 4;

export type SendChunks = Readonly<{
  /** Sends what the store lacks of it. Undefined if it is no file any more. */
  send(
    root: string,
    path: string,
  ): Promise<Readonly<{ size: number; chunks: readonly string[] }> | undefined>;
  /** Everything that was sent is stored when this resolves. */
  flush(): Promise<void>;
}>;

/** Reads files through no link; the store gets content before anything names it. */
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
        // No more than it had at first: a command may go on writing.
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

import { fstatSync, readSync } from 'node:fs';
import { decodeText } from '../text/decode-text.ts';
import { fileType } from './file-type.ts';

/** A file that is read as text is at most this many bytes (R4). */
export const textLimit = 200_000;

export type ReadBytes = Readonly<
  { ok: true; bytes: Buffer } | { ok: false; code: 'FILE_TOO_LARGE'; message: string }
>;

export type ReadText = Readonly<
  { ok: true; text: string; /** Bytes. */ size: number } | { ok: false; code: 'BINARY_FILE'; message: string }
>;

/** All of an open file, where it is not larger than `limit` bytes. */
export function readBytes(descriptor: number, limit: number): ReadBytes {
  const stats = fstatSync(descriptor);
  if (stats.size > limit) return tooLarge(stats.size, limit);
  // One more than there should be, to see what grows meanwhile.
  const bytes = Buffer.alloc(Math.min(limit, Math.max(stats.size, 4096)) + 1);
  let size = 0;
  for (let read = -1; read !== 0 && size < bytes.length; size += read) {
    read = readSync(descriptor, bytes, size, bytes.length - size, null);
  }
  if (size > limit) return tooLarge(size, limit);
  return { ok: true, bytes: bytes.subarray(0, size) };
}

/** Bytes as text; `path` is what messages call it. What is no text is told with its type and size (R4). */
export function asText(bytes: Buffer, path: string): ReadText {
  const text = decodeText(bytes, false);
  if (text !== undefined && !text.includes('\0')) return { ok: true, text, size: bytes.length };
  const message = `${path} is no text: ${fileType(path, bytes).words}, ${bytes.length} bytes`;
  return { ok: false, code: 'BINARY_FILE', message };
}

function tooLarge(size: number, limit: number): ReadBytes {
  return { ok: false, code: 'FILE_TOO_LARGE', message: `${size} bytes; at most ${limit} can be read` };
}

import { fstatSync, readSync } from 'node:fs';
import { fileType } from './file-type.ts';
import { decodeText } from '../text/text.ts';

/** Control characters that no text contains; some are missing from Windows-1252, too. */
const noText = /(?![\t\n\v\f\r])\p{Cc}/u;

/** In text with Latin letters most characters are ASCII. */
const mostBeyondAscii = 0.3;

/** How many bytes of a file tools read at most (R4). */
export const textLimit = 200_000;

type ReadBytes = Readonly<
  { ok: true; bytes: Buffer } | { ok: false; code: 'FILE_TOO_LARGE'; message: string }
>;

export type ReadText = Readonly<
  { ok: true; text: string; size: number } | { ok: false; code: 'BINARY_FILE'; message: string }
>;

export function readBytes(descriptor: number, limit: number): ReadBytes {
  const stats = fstatSync(descriptor);
  if (stats.size > limit) return tooLarge(stats.size, limit);
  const bytes = Buffer.alloc(Math.min(limit, Math.max(stats.size, 4096)) + 1);
  let size = 0;
  for (let read = -1; read !== 0 && size < bytes.length; size += read) {
    read = readSync(descriptor, bytes, size, bytes.length - size, null);
  }
  if (size > limit) return tooLarge(size, limit);
  return { ok: true, bytes: bytes.subarray(0, size) };
}

export function asText(bytes: Buffer, path: string): ReadText {
  const text = decodeText(bytes, false);
  if (text !== undefined && !text.includes('\0')) return { ok: true, text, size: bytes.length };
  const message = `${path} is no text: ${fileType(path, bytes).words}, ${bytes.length} bytes`;
  return { ok: false, code: 'BINARY_FILE', message };
}

function tooLarge(size: number, limit: number): ReadBytes {
  return { ok: false, code: 'FILE_TOO_LARGE', message: `${size} bytes; at most ${limit} can be read` };
}

/**
 * The text of a file in UTF-8, in UTF-16 with its byte order mark, or in Windows-1252 (CSV from Excel). Undefined if it
 * is none. `cut` means that `bytes` is only the beginning.
 */
export function fileText(bytes: Uint8Array, cut: boolean): string | undefined {
  const text = decoded(bytes, cut)?.replace(/^\uFEFF/, '');
  return text === undefined || text.trim() === '' || text.includes('\0') ? undefined : text;
}

function decoded(bytes: Uint8Array, cut: boolean): string | undefined {
  const [first, second] = bytes;
  const utf16 = first === 0xff && second === 0xfe ? 'utf-16le' : 'utf-16be';
  if (utf16 === 'utf-16le' || (first === 0xfe && second === 0xff))
    return new TextDecoder(utf16).decode(bytes, { stream: cut });
  const text = decodeText(bytes, cut);
  if (text !== undefined) return text;
  const western = new TextDecoder('windows-1252').decode(bytes);
  const beyond = bytes.reduce((sum, byte) => sum + (byte > 0x7f ? 1 : 0), 0);
  return noText.test(western) || beyond > bytes.length * mostBeyondAscii ? undefined : western;
}

import { decodeText } from '../text/decode-text.ts';

/** Control characters that stand in no text; among them those that Windows-1252 has no character for. */
const noText = /(?![\t\n\v\f\r])\p{Cc}/u;
/** Of a text in Latin letters most characters are ASCII; of another alphabet in a code page of its own they are not. */
const mostBeyondAscii = 0.3;

/**
 * The text of a file, or nothing where it is none: UTF-8, UTF-16 with its mark, and Windows-1252, in which Excel writes CSV.
 * With `cut` the bytes are only its beginning.
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

/**
 * UTF-8 bytes as text. With `cut` the bytes are the beginning of something longer, and a character that was cut in two
 * at their end is left out. Nothing when the bytes are not UTF-8. A byte order mark stays.
 */
export function decodeText(bytes: Uint8Array, cut: boolean): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: cut });
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

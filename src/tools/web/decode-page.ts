import { TextDecoder } from 'node:util';

/** Decodes a page by its byte order mark, `charset`, HTML `meta`, or else as UTF-8. Invalid bytes are replaced. */
export function decodePage(bytes: Uint8Array, charset: string | undefined, isHtml: boolean): string {
  const said = markOf(bytes) ?? charset ?? (isHtml ? metaCharset(bytes) : undefined) ?? 'utf-8';
  return decoderOf(said).decode(bytes);
}

/** Whether the bytes are no text: they hold a zero byte and have no byte order mark. */
export function looksBinary(bytes: Uint8Array): boolean {
  return markOf(bytes) === undefined && bytes.subarray(0, 4_096).includes(0);
}

function markOf([one, two, three]: Uint8Array): string | undefined {
  if (one === 0xef && two === 0xbb && three === 0xbf) return 'utf-8';
  if (one === 0xff && two === 0xfe) return 'utf-16le';
  if (one === 0xfe && two === 0xff) return 'utf-16be';
  return undefined;
}

function metaCharset(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 2_048)).toString('latin1');
  const said = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(head)?.[1];
  // A tag that can be read as single bytes can't be in UTF-16, even if it says so.
  return said === undefined || /^utf-?16/i.test(said) ? undefined : said;
}

function decoderOf(label: string): TextDecoder {
  try {
    return new TextDecoder(label);
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder();
    throw error;
  }
}

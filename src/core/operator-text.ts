import { decodeText } from '../lib/text/text.ts';
import { OperatorError } from './errors.ts';

/** What an operator's text file says, without a byte order mark. Throws OperatorError if it is in another encoding (G5). */
export function operatorText(bytes: Uint8Array, file: string): string {
  const text = decodeText(bytes, false);
  // Half of the bytes of UTF-16 are zero, and those may pass for UTF-8.
  if (text === undefined || text.includes('\0'))
    throw new OperatorError(`${file} is not UTF-8: save it as UTF-8 text.`);
  return text.replace(/^\uFEFF/, '');
}

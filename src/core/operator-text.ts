import { decodeText } from '../lib/text/text.ts';
import { OperatorError } from './errors.ts';

/** The text of an operator's file, without a byte order mark. Throws OperatorError if it is not UTF-8 (G5). */
export function operatorText(bytes: Uint8Array, file: string): string {
  const text = decodeText(bytes, false);
  // Text in UTF-16 may pass for UTF-8, but half of its bytes are zero.
  if (text === undefined || text.includes('\0'))
    throw new OperatorError(`${file} is not UTF-8: save it as UTF-8 text.`);
  return text.replace(/^\uFEFF/, '');
}

import { z } from 'zod';
import { fail, succeed, type Envelope } from '../../core/envelope.ts';

/** Characters of a file in one answer, below what reaches the model of any tool's output. */
const pageLength = 25_000;

export const offsetInput = z
  .int()
  .min(0)
  .optional()
  .describe('character to read on from, where an earlier answer was cut');

/** A text from `offset` on, in characters; of a long one a page, with the offset of the next. */
export function pageOf(text: string, offset = 0): Envelope {
  if (text === '') return succeed('The file is empty.');
  if (offset >= text.length)
    return fail('ARGUMENTS_INVALID', `the file has ${text.length} characters: offset must be below that`);
  const end = offset + pageLength;
  const page = text.slice(offset, end);
  if (end >= text.length) return succeed(page);
  const message = `characters ${offset} to ${end} of ${text.length}: read on with offset ${end}`;
  return succeed(page, [{ code: 'CONTENT_TRUNCATED', message }]);
}

import { oneLine } from './text.ts';

/** Something a person wrote, such as a name, as one line of code, so that it can pretend nothing in Markdown (A10). 60 characters at most. */
export function inlineCode(text: string): string {
  const flat = oneLine(text.replace(/[`\p{Cc}\p{Cf}]+/gu, ' '), 60);
  return `\`${flat === '' ? '?' : flat}\``;
}

import { stripVTControlCharacters } from 'node:util';

// eslint-disable-next-line no-control-regex -- these are the characters to be removed
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** The text without terminal sequences and control characters (newline and tab stay), lone surrogates replaced, line ends as `\n`. */
export function withoutControls(text: string): string {
  return stripVTControlCharacters(text.toWellFormed()).replace(/\r\n?/g, '\n').replace(controls, '');
}

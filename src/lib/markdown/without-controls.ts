/**
 * Sequences that tell a terminal something: strings such as titles and links up to their end, control sequences, single
 * escapes. Each piece ends before the next escape, so that the time grows with the length alone (S9).
 */
const sequences =
  // eslint-disable-next-line no-control-regex -- these are the characters to be removed
  /\u001b[\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-Z\\^-~]/g;
// eslint-disable-next-line no-control-regex -- these are the characters to be removed
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** The text without terminal sequences and control characters (newline and tab stay), lone surrogates replaced, line ends as `\n`. */
export function withoutControls(text: string): string {
  return text.toWellFormed().replace(sequences, '').replace(/\r\n?/g, '\n').replace(controls, '');
}

/**
 * Cuts `text` at `limit` characters (UTF-16 units, no pair split), at the last line end of its final fifth where there
 * is one, and says so in a last line. Text within the limit stays as it is.
 */
export function truncate(text: string, limit: number): Readonly<{ text: string; truncated: boolean }> {
  if (text.length <= limit) return { text, truncated: false };
  const marker = (left: number): string => `\n[cut: ${left} of ${text.length} characters left out]`;
  const room = Math.max(0, limit - marker(text.length).length);
  const hard = isHighSurrogate(text, room - 1) ? room - 1 : room;
  const line = text.lastIndexOf('\n', hard);
  const end = line >= hard * 0.8 ? line : hard;
  return { text: text.slice(0, end) + marker(text.length - end), truncated: true };
}

/** One line: white space and control characters become single spaces, cut at `limit` with an ellipsis. */
export function oneLine(text: string, limit: number): string {
  // eslint-disable-next-line no-control-regex
  const flat = text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
  if (flat.length <= limit) return flat;
  const end = isHighSurrogate(flat, limit - 2) ? limit - 2 : limit - 1;
  return `${flat.slice(0, end).trimEnd()}…`;
}

/** Without these characters at its end. A pattern such as `[.,]+$` takes the square of a run's length where more follows it (S9). */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit <= 0xdbff;
}

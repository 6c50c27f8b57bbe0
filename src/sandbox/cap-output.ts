/** Keeps the first two thirds and the last third of `cap` characters, with a line between that says what is missing. */
export function capOutput(text: string, cap: number): Readonly<{ text: string; truncated: boolean }> {
  if (text.length <= cap) return { text, truncated: false };
  const head = wholeStart(text, Math.floor((cap * 2) / 3));
  const tail = wholeEnd(text, cap - head.length);
  const missing = text.length - head.length - tail.length;
  return { text: `${head}\n[… ${missing} characters left out …]\n${tail}`, truncated: true };
}

/** The last `length` characters, no surrogate pair split. */
export function wholeEnd(text: string, length: number): string {
  if (length <= 0) return '';
  return text.slice(-length).replace(/^[\udc00-\udfff]/, '');
}

function wholeStart(text: string, length: number): string {
  return text.slice(0, Math.max(0, length)).replace(/[\ud800-\udbff]$/, '');
}

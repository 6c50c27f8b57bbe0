/** How much a grapheme may hold. Characters. */
const longestGrapheme = 64;

/** The last boundary between graphemes at or before `end`; between code points where one grapheme has no end. */
export function graphemeStart(text: string, end: number): number {
  // Made where it is needed, which is rare: the first one takes 20 ms and 3 MB (B4).
  const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
  let from = Math.max(0, end - longestGrapheme);
  if (/[\udc00-\udfff]/.test(text.charAt(from))) from -= 1;
  // Flags are pairs of letters in a row: where one begins is known only from the first of them.
  while (/^\ud83c[\udde6-\uddff]$/.test(text.slice(Math.max(0, from - 2), from))) from -= 2;
  const containing = graphemes.segment(text.slice(from, end + longestGrapheme)).containing(end - from);
  const start = containing === undefined ? end : from + containing.index;
  if (start > from) return start;
  if (!/[\udc00-\udfff]/.test(text.charAt(end))) return end;
  return end > 1 ? end - 1 : end + 1;
}

const longestGrapheme = 64;

const steering =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\p{Variation_Selector}\u115f\u1160\u3164\uffa0]/gu;

/**
 * Cuts a text to at most `limit` UTF-16 units, preferably at a line end and never inside a pair. The last line says
 * that it was cut.
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

/** Puts a text on one line: white space and control characters become spaces. A longer text is cut with an ellipsis. */
export function oneLine(text: string, limit: number): string {
  // eslint-disable-next-line no-control-regex
  const flat = text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
  if (flat.length <= limit) return flat;
  const end = isHighSurrogate(flat, limit - 2) ? limit - 2 : limit - 1;
  return `${flat.slice(0, end).trimEnd()}…`;
}

/** Removes these characters from the end. A pattern such as `[.,]+$` would take quadratic time (S9). */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit <= 0xdbff;
}

export function createNewSince<Thing>(): (things: readonly Thing[]) => readonly Thing[] {
  let before: ReadonlySet<string> = new Set();
  return (things) => {
    const texts = things.map((thing) => JSON.stringify(thing));
    const known = before;
    before = new Set(texts);
    return things.filter((_, index) => !known.has(texts[index] ?? ''));
  };
}

/** Writes a size in English, such as `812 bytes`, `12 kB` or `3.4 MB`. */
export function byteSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const [unit, size] = bytes < 999_500 ? ['kB', bytes / 1000] : ['MB', bytes / 1_000_000];
  return `${size < 10 ? size.toFixed(1).replace(/\.0$/, '') : Math.round(size)} ${unit}`;
}

/** At most three candidates, nearest first: those that may be mistyped or contain the word. */
export function nearest(word: string, candidates: readonly string[]): readonly string[] {
  const wanted = word.toLowerCase();
  const limit = mostEdits(wanted);
  return candidates
    .map((candidate) => ({ candidate, away: distance(wanted, candidate.toLowerCase()) }))
    .filter(
      ({ candidate, away }) =>
        away <= limit || (wanted.length > 2 && candidate.toLowerCase().includes(wanted)),
    )
    .sort((a, b) => a.away - b.away || a.candidate.localeCompare(b.candidate))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** The candidate that a mistyped word clearly means; undefined if there is none. */
export function typoOf(word: string, candidates: readonly string[]): string | undefined {
  const wanted = word.toLowerCase();
  // Three letters are too few to tell a slip from another word.
  if (wanted.length <= 3) return undefined;
  return nearest(word, candidates).find(
    (candidate) => distance(wanted, candidate.toLowerCase()) <= mostEdits(wanted),
  );
}

function mostEdits(word: string): number {
  return word.length <= 5 ? 1 : Math.max(2, Math.floor(word.length / 3));
}

/** How many edits two words are apart, where swapping neighbours is one edit. It compares at most 64 characters. */
function distance(a: string, b: string): number {
  const [left, right] = [a.slice(0, 64), b.slice(0, 64)];
  let before: readonly number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const change = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      const isExchange = left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      const exchange = isExchange ? (before[j - 2] ?? Infinity) + 1 : Infinity;
      next.push(Math.min(change, exchange, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[right.length] ?? 0;
}

/** Makes text safe for one line of a terminal: hidden and steering characters become `\u{…}`, and tabs stay. */
export function printable(text: string): string {
  return text.replace(steering, (character) =>
    character === '\t' ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/**
 * Decodes UTF-8; undefined if the bytes are not. With `cut` an incomplete character at the end is dropped. A byte order
 * mark stays.
 */
export function decodeText(bytes: Uint8Array, cut: boolean): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: cut });
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Writes text as one line of code that Markdown can't misread (A10), at most 60 characters. */
export function inlineCode(text: string): string {
  const flat = oneLine(text.replace(/[`\p{Cc}\p{Cf}]+/gu, ' '), 60);
  return `\`${flat === '' ? '?' : flat}\``;
}

/** Writes text as a code block that it can't end. Deceptive characters appear as `\u{200b}`. */
export function codeBlock(text: string): string {
  const shown = text.replace(/\n$/, '').split('\n').map(printable).join('\n');
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${shown}\n${fence}`;
}

/**
 * The beginning of the character at `end`, which may be a cluster of code points. In an endless cluster it is between
 * code points.
 */
export function graphemeStart(text: string, end: number): number {
  // Made here, because the first one costs 20 ms and 3 MB (B4).
  const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
  let from = Math.max(0, end - longestGrapheme);
  if (/[\udc00-\udfff]/.test(text.charAt(from))) from -= 1;
  // Flags are pairs of letters, so counting begins at the first letter.
  while (/^\ud83c[\udde6-\uddff]$/.test(text.slice(Math.max(0, from - 2), from))) from -= 2;
  const containing = graphemes.segment(text.slice(from, end + longestGrapheme)).containing(end - from);
  const start = containing === undefined ? end : from + containing.index;
  if (start > from) return start;
  if (!/[\udc00-\udfff]/.test(text.charAt(end))) return end;
  return end > 1 ? end - 1 : end + 1;
}

/** Splits an address such as `127.0.0.1:8443` or `[::1]:8443`, which has to be valid. */
export function hostAndPort(listen: string): Readonly<{ host: string; port: number }> {
  const colon = listen.lastIndexOf(':');
  return { host: listen.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(listen.slice(colon + 1)) };
}

export function whyNotListening(error: NodeJS.ErrnoException): string {
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program has that port',
    EADDRNOTAVAIL: 'this machine has no such address',
    EACCES: 'ports below 1024 need more rights',
    ENOTFOUND: 'that name is unknown',
  };
  return why[error.code ?? ''] ?? error.message;
}

/** False if a reader sees nothing: white space, and characters without a picture of their own. */
export function hasVisible(text: string): boolean {
  return /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
}

/** Width of a text in columns of a terminal: two for East Asian wide characters and emoji, none for combining marks. */
export function displayWidth(text: string): number {
  if (plain.test(text)) return text.length;
  // Made here, because the first one costs 20 ms and 3 MB (B4).
  const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    width += wide.test(segment) ? 2 : invisible.test(segment) ? 0 : 1;
  }
  return width;
}

const plain = /^[ -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f]*$/;
const wide =
  /^(?:\p{Emoji_Presentation}|.\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/u;
const invisible = /^[\p{M}\p{Cf}]+$/u;

import { stripVTControlCharacters } from 'node:util';

/** A stretch of a source that is parsed by itself. `literal`: its shape would stall a parser, so it is shown as it stands. */
export type Stretch = Readonly<{ source: string; literal: boolean }>;

/** Characters a stretch holds at most, unless a code fence needs more. Longer sources are cut at a blank line where there is one. */
const stretchLength = 32_000;
/** Container markers (`>`, `-`, `1.`) at the head of one line. */
const deepestPrefix = 24;
/** Per paragraph: what the parser compares pairwise. No honest paragraph comes near. */
const mostBrackets = 600;
const mostDelimiters = 400;
/** Lines that go on a quote or list item without its marker or indentation. */
const mostLazyLines = 400;

const marker = /^[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$))/;
// eslint-disable-next-line no-control-regex -- these are the characters to be removed
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/**
 * Makes any text safe to parse: control characters and terminal sequences removed, lone surrogates replaced, cut into
 * stretches whose parsing takes bounded time and stack, whatever somebody wrote to make it long (S6).
 */
export function tameMarkdown(markdown: string): readonly Stretch[] {
  const source = stripVTControlCharacters(markdown.toWellFormed())
    .replace(/\r\n?/g, '\n')
    .replace(controls, '');
  return cutIntoStretches(source).map((stretch) => ({ source: stretch, literal: wouldStall(stretch) }));
}

function cutIntoStretches(source: string): readonly string[] {
  const stretches: string[] = [];
  let start = 0;
  let blank = 0;
  let fence: string | undefined;
  for (const [position, line] of linesOf(source)) {
    // Inside a fence a cut would turn code into text; parsing code is cheap at any length.
    while (fence === undefined && position + line.length - start > stretchLength) {
      const end =
        blank > start ? blank : position > start ? position : safeCut(source, start + stretchLength);
      stretches.push(source.slice(start, end));
      start = end;
    }
    fence = fenceAfter(fence, line);
    if (fence === undefined && line.trim() === '') blank = position + line.length;
  }
  stretches.push(source.slice(start));
  return stretches;
}

function wouldStall(stretch: string): boolean {
  let [brackets, delimiters, lazy] = [0, 0, 0];
  let contained = false;
  let fence: string | undefined;
  for (const [, line] of linesOf(stretch)) {
    const before = fence;
    fence = fenceAfter(fence, line);
    const prefix = containerPrefix(line);
    if (prefix.markers > deepestPrefix) return true;
    if (before !== undefined || fence !== undefined || line.trim() === '') {
      [brackets, delimiters, lazy] = [0, 0, 0];
      contained = false;
      continue;
    }
    if (/^[-*+] +[^\s]|^#/.test(line)) [brackets, delimiters] = [0, 0];
    contained ||= prefix.markers > 0;
    lazy = prefix.markers > 0 || /^\s/.test(line) ? 0 : lazy + 1;
    brackets += count(line, /\]/g);
    delimiters += count(line, /[*~]+|(?<!\w)_+|_+(?!\w)/g);
    if (brackets > mostBrackets || delimiters > mostDelimiters || (contained && lazy > mostLazyLines))
      return true;
  }
  return false;
}

/** The fence that is open after this line. Only fences at the start of a line: those are fences wherever they stand. */
function fenceAfter(open: string | undefined, line: string): string | undefined {
  if (open === undefined) return /^(`{3,}(?=[^`]*$)|~{3,})/.exec(line.trimEnd())?.[0];
  const close = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1];
  return close?.startsWith(open) === true ? undefined : open;
}

function containerPrefix(line: string): Readonly<{ markers: number }> {
  let rest = line;
  let markers = 0;
  for (let found = marker.exec(rest); found !== null && markers <= deepestPrefix; found = marker.exec(rest)) {
    rest = rest.slice(found[0].length);
    markers += 1;
  }
  return { markers };
}

function* linesOf(source: string): Generator<readonly [position: number, line: string]> {
  for (let position = 0; position < source.length;) {
    const newline = source.indexOf('\n', position);
    const end = newline === -1 ? source.length : newline + 1;
    yield [position, source.slice(position, end)];
    position = end;
  }
}

function safeCut(source: string, end: number): number {
  const space = source.lastIndexOf(' ', end);
  if (space > end - 1000) return space + 1;
  return /[\ud800-\udbff]/.test(source.charAt(end - 1)) ? end - 1 : end;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

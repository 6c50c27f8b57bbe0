import { sourceLines, type SourceLine } from './source-lines.ts';

/** Container markers (`>`, `-`, `1.`) at the head of one line. */
const deepestPrefix = 24;
/** What the parser's time grows with the square of. No honest text comes near. */
const mostInParagraph = { brackets: 1000, delimiters: 1000, halfTicks: 100, addresses: 1000, lazyLines: 400 };
/** Quotes, lists and items that begin, twice where they follow a blank line, which costs most; underlined headings. */
const mostContainers = 1500;

const marker = /^[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$))/;

type Counts = typeof mostInParagraph;
const nothing: Counts = { brackets: 0, delimiters: 0, halfTicks: 0, addresses: 0, lazyLines: 0 };

/** A part of a stretch. `literal`: its shape would hold up the parser for seconds or overflow its stack. */
export type SafePart = Readonly<{ source: string; literal: boolean }>;

/**
 * Cuts a stretch of Markdown before the lines with which a paragraph would hold up the parser (S6). A line too heavy alone is
 * literal, and so is everything in containers that are too deep or too many. The cells of a table are parsed one by one.
 */
export function safeParts(stretch: string): readonly SafePart[] {
  const parts: SafePart[] = [];
  let start = 0;
  const cutAt = (end: number, literal = false): void => {
    if (end > start) parts.push({ source: stretch.slice(start, end), literal });
    start = end;
  };
  let counts = nothing;
  let containers = 0;
  let contained = false;
  let previous: string | undefined;
  let before: SourceLine | undefined;
  let inTable = false;
  for (const line of sourceLines(stretch)) {
    const markers = line.code ? [] : leadingMarkers(line.text);
    const goesOn = markers.length > 0 && markers[0] === previous;
    containers += markers.length - (goesOn ? 1 : 0) + (before?.blank === true && markers.length > 0 ? 1 : 0);
    if (!line.code && /^ {0,3}(?:-+|=+)\s*$/.test(line.text)) containers += 1;
    if (markers.length > deepestPrefix || containers > mostContainers) {
      cutAt(stretch.length, true);
      return parts;
    }
    previous = line.blank ? undefined : markers[0];
    if (line.code || line.blank) {
      counts = nothing;
      contained = inTable = false;
    } else {
      contained ||= markers.length > 0;
      inTable = !contained && line.text.startsWith('|') && (inTable || isTableHead(before, line));
      const begins = inTable || /^[-*+] +[^\s]|^#/.test(line.text);
      const so = begins ? { ...nothing, lazyLines: counts.lazyLines } : counts;
      const isMarked = markers.length > 0;
      const tooMuch = (some: Counts): boolean => isTooMuch(contained ? some : { ...some, lazyLines: 0 });
      counts = add(so, line.text, isMarked);
      if (tooMuch(counts)) {
        cutAt(line.position);
        counts = add(nothing, line.text, isMarked);
        if (tooMuch(counts)) cutAt(line.position + line.text.length, true);
      }
    }
    before = line;
  }
  cutAt(stretch.length);
  return parts;
}

/** Whether the two lines begin a table, whose rows and cells are paragraphs to the parser. Both begin with a bar. */
function isTableHead(head: SourceLine | undefined, rule: SourceLine): boolean {
  if (head?.text.startsWith('|') !== true || !/^\|[ \t]*:?-[-:| \t]*$/.test(rule.text.trimEnd()))
    return false;
  return cells(head.text) === cells(rule.text);
}

function cells(row: string): number {
  return count(
    row
      .trim()
      .replace(/\\[\\|]/g, '')
      .replace(/\|$/, ''),
    /\|/g,
  );
}

/** For each container that a line opens or goes on: its indentation and the kind of its marker. */
function leadingMarkers(line: string): readonly string[] {
  let rest = line;
  const markers: string[] = [];
  for (
    let found = marker.exec(rest);
    found !== null && markers.length <= deepestPrefix;
    found = marker.exec(rest)
  ) {
    rest = rest.slice(found[0].length);
    markers.push(found[0].replace(/\d+/, ''));
  }
  return markers;
}

function add(counts: Counts, line: string, marked: boolean): Counts {
  const unescaped = line.replace(/\\./g, '.');
  return {
    brackets: counts.brackets + count(unescaped, /\]/g),
    delimiters: counts.delimiters + count(unescaped, /(?<=\S)[*~]+|[*~]+(?=\S)|(?<!\w)_+|(?<!_)_+(?!\w)/g),
    // A run of ticks that an escape shortens never finds its end.
    halfTicks: counts.halfTicks + count(line, /\\`(?=`)/g),
    addresses: counts.addresses + count(unescaped, /www\.|https?:|@/gi),
    lazyLines: marked || /^\s/.test(line) ? 0 : counts.lazyLines + 1,
  };
}

function isTooMuch(counts: Counts): boolean {
  return (Object.keys(mostInParagraph) as (keyof Counts)[]).some((key) => counts[key] > mostInParagraph[key]);
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

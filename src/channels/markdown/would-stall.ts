import { sourceLines } from './source-lines.ts';

/** Container markers (`>`, `-`, `1.`) at the head of one line. */
const deepestPrefix = 24;
/** What the parser's time grows with the square of. No honest text comes near. */
const mostInParagraph = { brackets: 1000, delimiters: 400, halfTicks: 100, addresses: 1000, lazyLines: 400 };
/** Quotes, lists and items that begin, twice where they follow a blank line, which costs most; underlined headings. */
const mostContainers = 1500;

const marker = /^[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$))/;

type Counts = typeof mostInParagraph;
const nothing: Counts = { brackets: 0, delimiters: 0, halfTicks: 0, addresses: 0, lazyLines: 0 };

/** Whether a stretch of Markdown is of a shape that would hold up the parser for seconds or overflow its stack (S6). */
export function wouldStall(stretch: string): boolean {
  let counts = nothing;
  let containers = 0;
  let contained = false;
  let previous: string | undefined;
  let afterBlank = false;
  for (const line of sourceLines(stretch)) {
    const markers = line.code ? [] : leadingMarkers(line.text);
    const goesOn = markers.length > 0 && markers[0] === previous;
    containers += markers.length - (goesOn ? 1 : 0) + (afterBlank && markers.length > 0 ? 1 : 0);
    if (!line.code && /^ {0,3}(?:-+|=+)\s*$/.test(line.text)) containers += 1;
    if (markers.length > deepestPrefix || containers > mostContainers) return true;
    previous = line.blank ? undefined : markers[0];
    afterBlank = line.blank;
    if (line.code || line.blank) {
      counts = nothing;
      contained = false;
      continue;
    }
    contained ||= markers.length > 0;
    const begins = /^[-*+] +[^\s]|^#/.test(line.text);
    counts = add(
      begins ? { ...nothing, lazyLines: counts.lazyLines } : counts,
      line.text,
      markers.length > 0,
    );
    if (isTooMuch(contained ? counts : { ...counts, lazyLines: 0 })) return true;
  }
  return false;
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

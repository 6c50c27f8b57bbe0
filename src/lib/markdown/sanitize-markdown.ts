import { graphemeStart } from '../text/text.ts';

/** Matches terminal strings, control sequences and escapes. Each ends before the next escape, for linear time (S9). */
const sequences =
  // eslint-disable-next-line no-control-regex -- these are the characters to be removed
  /\u001b[\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-Z\\^-~]/g;

// eslint-disable-next-line no-control-regex -- these are the characters to be removed
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** How many marks such as `>`, `-` and `1.` a line may begin with. */
const deepestPrefix = 24;

/** Limits for one paragraph. The parser's time is quadratic in these, and no honest text comes near them. */
const mostInParagraph = { brackets: 1000, delimiters: 1000, halfTicks: 100, addresses: 1000, lazyLines: 400 };

/** Limit for quotes, lists, items (twice after a blank line) and underlined headings. */
const mostContainers = 1500;

const marker = /^[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$))/;

const nothing: Counts = { brackets: 0, delimiters: 0, halfTicks: 0, addresses: 0, lazyLines: 0 };

/**
 * A stretch of text that is parsed alone, with the link definitions it uses. `literal` is true if it would stall the
 * parser.
 */
export type MarkdownStretch = Readonly<{ source: string; definitions: string; literal: boolean }>;

/** Lengths after which a stretch ends at a good place, at a fair place, or anywhere. */
const goodLength = 6_000;
const fairLength = 16_000;
const anyLength = 32_000;

const definition = /^ {0,3}\[([^[\]\\]{1,200})\]:[ \t]*\S[^\n]{0,2000}$/;

/**
 * Removes control characters, terminal sequences and lone surrogates, and cuts the text into stretches that parse with
 * bounded time and stack (S6).
 */
export function sanitizeMarkdown(markdown: string): readonly MarkdownStretch[] {
  const source = withoutControls(markdown);
  const stretches = cutIntoStretches(source).flatMap(safeParts);
  const definitions = stretches.length === 1 ? [] : findDefinitions(source);
  return stretches.map(({ source: stretch, literal }) => ({
    source: stretch,
    definitions: definitions
      .filter(({ label, line }) => stretch.includes(`[${label}]`) && !stretch.includes(line))
      .map(({ line }) => line)
      .join('\n'),
    literal,
  }));
}

function cutIntoStretches(source: string): readonly string[] {
  const stretches: string[] = [];
  let start = 0;
  let afterBlank = false;
  const cutAt = (end: number): void => {
    stretches.push(source.slice(start, end));
    start = end;
  };
  for (const { text, position, blank, code } of sourceLines(source)) {
    const length = position - start;
    const opens = code && /^[`~]/.test(text) && afterBlank;
    if (!code || opens) {
      const fair = afterBlank && /^\S/.test(text);
      const good = fair && !/^(?:[-*+]|\d+[.)])\s/.test(text);
      if (length > (good ? goodLength : fair ? fairLength : anyLength)) cutAt(position);
      if (!code && length > 0 && length + text.length > anyLength) cutAt(position);
      while (!code && position + text.length - start > anyLength) cutAt(safeCut(source, start + anyLength));
    }
    afterBlank = blank && !code;
  }
  stretches.push(source.slice(start));
  return stretches;
}

function findDefinitions(source: string): readonly Readonly<{ label: string; line: string }>[] {
  return [...sourceLines(source)].flatMap(({ text, code }) => {
    const label = code ? undefined : definition.exec(text.trimEnd())?.[1];
    return label === undefined ? [] : [{ label, line: text.trimEnd() }];
  });
}

function safeCut(source: string, end: number): number {
  const space = source.lastIndexOf(' ', end - 1);
  if (space > end - 1000) return space + 1;
  return graphemeStart(source, end);
}

type Counts = typeof mostInParagraph;

type SafePart = Readonly<{ source: string; literal: boolean }>;

/**
 * Cuts a stretch before lines that would stall the parser (S6). A line is literal if it is too heavy alone, too deep,
 * or has too many containers. Table cells are parsed one by one.
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

/** Whether two lines begin a table. The parser sees its rows and cells as paragraphs. */
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
    // An escape shortens the run of ticks, so that it never ends.
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

type SourceLine = Readonly<{ text: string; position: number; blank: boolean; code: boolean }>;

/** The lines of a text. Fences count only at the beginning of a line. */
function* sourceLines(source: string): Generator<SourceLine> {
  let fence: string | undefined;
  for (let position = 0; position < source.length;) {
    const newline = source.indexOf('\n', position);
    const end = newline === -1 ? source.length : newline + 1;
    const text = source.slice(position, end);
    const before = fence;
    fence = fenceAfter(before, text);
    yield { text, position, blank: text.trim() === '', code: before !== undefined || fence !== undefined };
    position = end;
  }
}

function fenceAfter(open: string | undefined, line: string): string | undefined {
  if (open === undefined) return /^(?:`{3,}(?=[^`]*$)|~{3,})/.exec(line.trimEnd())?.[0];
  const close = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1];
  return close?.startsWith(open) === true ? undefined : open;
}

/** Removes control characters. Newlines and tabs stay, and line ends become `\n`. */
export function withoutControls(text: string): string {
  return text.toWellFormed().replace(sequences, '').replace(/\r\n?/g, '\n').replace(controls, '');
}

/** A line with its end, where it begins, and whether it belongs to a fenced code block. */
export type SourceLine = Readonly<{ text: string; position: number; blank: boolean; code: boolean }>;

/** The lines of a source. Fences count at the very start of a line only: those are fences wherever they stand. */
export function* sourceLines(source: string): Generator<SourceLine> {
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

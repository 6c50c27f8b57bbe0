import { safeLine } from '../channels/terminal/from-markdown.ts';
import { displayWidth } from '../lib/text/text.ts';

const between = ' │ ';
/** Terminals that are narrower show one text below the other. */
const narrowest = 80;
const widest = 160;
/** The width where the output is no terminal. */
const usual = 120;

/** Two texts beside each other in rows of `width` columns. Characters that steer a terminal are removed. */
export function sideBySide(left: string, right: string, width: number): readonly string[] {
  const whole = Number.isFinite(width) ? Math.min(width, widest) : usual;
  if (whole < narrowest) return [...wrapped(left, whole), between.trim(), ...wrapped(right, whole)];
  const half = Math.floor((whole - between.length) / 2);
  const [lefts, rights] = [wrapped(left, half), wrapped(right, half)];
  return Array.from({ length: Math.max(lefts.length, rights.length) }, (_, at) => {
    const row = lefts[at] ?? '';
    return `${row}${' '.repeat(half - displayWidth(row))}${between}${rights[at] ?? ''}`.trimEnd();
  });
}

function wrapped(text: string, width: number): readonly string[] {
  return text
    .split('\n')
    .flatMap((line) => wrappedLine(`${/^ */.exec(line)?.[0] ?? ''}${safeLine(line)}`, width));
}

function wrappedLine(line: string, width: number): readonly string[] {
  const rows: string[] = [];
  let row = '';
  for (const part of line.match(/ *[^ ]+/g) ?? []) {
    if (displayWidth(row + part) <= width) row += part;
    else {
      if (row !== '') rows.push(row);
      row = '';
      // A word that is wider than a row, such as an address, is cut.
      for (const character of part.trimStart()) {
        if (displayWidth(row + character) > width) {
          rows.push(row);
          row = '';
        }
        row += character;
      }
    }
  }
  return [...rows, row];
}

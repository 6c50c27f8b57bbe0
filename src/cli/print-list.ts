import { displayWidth } from '../lib/markdown/render-text.ts';
import { print } from './console.ts';

/** Lines of a list, or `none`. On a terminal a longer line continues below, between words; elsewhere it stays whole. */
export function printList(lines: readonly string[], none = ''): void {
  const { isTTY, columns } = process.stdout;
  const width = isTTY && columns > 0 ? columns : Infinity;
  for (const line of lines.join('\n').split('\n')) if (line !== '') print(folded(line, width));
  if (lines.length === 0 && none !== '') print(none);
}

function folded(line: string, width: number): string {
  const indent = `${/^ */.exec(line)?.[0] ?? ''}  `;
  const rows: string[] = [];
  let row = '';
  for (const part of line.match(/^ *\S+| +\S+/g) ?? []) {
    if (row === '' || displayWidth(row + part) <= width) row += part;
    else {
      rows.push(row);
      row = indent + part.trimStart();
    }
  }
  return [...rows, row].join('\n');
}

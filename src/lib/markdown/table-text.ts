import { displayWidth } from './display-width.ts';
import type { Table } from './document.ts';
import { visibleText } from './visible-text.ts';

/** A table for a fixed-width font: columns padded and aligned, the header underlined, no marks inside cells. */
export function layOutTable(table: Table): string {
  const rows = table.children.map((row) =>
    row.children.map((cell) => visibleText(cell).replace(/\s+/g, ' ').trim()),
  );
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(1, ...rows.map((row) => displayWidth(row[column] ?? ''))),
  );
  const lines = rows.map((row) =>
    widths.map((width, column) => pad(row[column] ?? '', width, table.align[column] ?? null)).join(' | '),
  );
  const [header = '', ...body] = lines;
  const rule = widths.map((width) => '-'.repeat(width)).join('-+-');
  return [header, rule, ...body].map((line) => line.trimEnd()).join('\n');
}

function pad(cell: string, width: number, align: Table['align'][number]): string {
  const missing = width - displayWidth(cell);
  const left = align === 'right' ? missing : align === 'center' ? Math.floor(missing / 2) : 0;
  return ' '.repeat(left) + cell + ' '.repeat(missing - left);
}

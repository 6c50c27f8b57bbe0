import path from 'node:path';

export const root = path.join(import.meta.dirname, '../..');

export function code(text: string): string {
  return `\`${text}\``;
}

/** Of a table, where a bar would end it. */
export function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

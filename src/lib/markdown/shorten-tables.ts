import { visibleText, type MarkdownBlock, type TableRow } from './document.ts';
import { parseMarkdown } from './parse-markdown.ts';
import { writeMarkdown } from './write-markdown.ts';

export type LargeTable = readonly (readonly string[])[];

const previewRows = 8;

/**
 * Shortens tables of more than `most` rows to the header, 8 rows and the line that `below` returns. Tables in lists and
 * quotes stay as they are.
 */
export function shortenTables(
  markdown: string,
  most: number,
  below: (shown: number, table: LargeTable, index: number) => string,
): Readonly<{ markdown: string; tables: readonly LargeTable[] }> {
  if (!markdown.includes('|')) return { markdown, tables: [] };
  const tables: LargeTable[] = [];
  const children = parseMarkdown(markdown).children.flatMap((block): readonly MarkdownBlock[] => {
    if (block.type !== 'table' || block.children.length - 1 <= most) return [block];
    const table = block.children.map(cellsOf);
    tables.push(table);
    const first = { ...block, children: block.children.slice(0, 1 + previewRows) };
    return [first, ...parseMarkdown(below(previewRows, table, tables.length)).children];
  });
  const isShort = tables.length === 0;
  return { markdown: isShort ? markdown : writeMarkdown({ type: 'root', children }), tables };
}

function cellsOf(row: TableRow): readonly string[] {
  return row.children.map((cell) => visibleText(cell).trim());
}

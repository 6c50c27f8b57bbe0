import { visibleText, type Inline, type Table, type TableCell } from '../../lib/markdown/document.ts';
import { oneLine } from '../../lib/text/text.ts';
import type { SlackBlock } from './buttons.ts';

const mostColumns = 20;
const mostRows = 100;
/** Rows that show without a press. Slack's default is 5. */
const pageRows = 15;
/** Cells need a character at least. */
const nothing = '–';

/** A table that people can sort and filter, and how many characters its cells have (U18). */
export type DataTable = Readonly<{ block: SlackBlock; length: number }>;

/** Makes a data table. Undefined if Slack takes none of this size. */
export function toDataTable({ children: [header, ...rows] }: Table): DataTable | undefined {
  const columns = header?.children.length ?? 0;
  const isWrong = columns < 1 || columns > mostColumns || rows.length < 1 || rows.length > mostRows;
  if (header === undefined || isWrong) return undefined;
  const names = header.children.map(textOf);
  const cells = rows.map(({ children }) => names.map((_, index) => toCell(children[index])));
  const length = [...names, ...cells.flat().map(({ text }) => text)].reduce(
    (sum, text) => sum + text.length,
    0,
  );
  const block = {
    type: 'data_table',
    caption: oneLine(names.join(', '), 150),
    rows: [names.map(rawText), ...cells.map((row) => row.map(({ cell }) => cell))],
    page_size: Math.min(rows.length, pageRows),
  };
  return { block, length };
}

type Cell = Readonly<{ cell: SlackBlock; text: string }>;

function toCell(cell: TableCell | undefined): Cell {
  if (cell === undefined) return { cell: rawText(nothing), text: nothing };
  const text = textOf(cell);
  if (/^[-+]?\d{1,15}(?:\.\d{1,9})?$/.test(text))
    return { cell: { type: 'raw_number', value: Number(text), text }, text };
  if (text === nothing || cell.children.every(({ type }) => type === 'text'))
    return { cell: rawText(text), text };
  const elements = cell.children.flatMap((child) => toElements(child, {}));
  return { cell: { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }, text };
}

function rawText(text: string): SlackBlock {
  return { type: 'raw_text', text };
}

function textOf(cell: TableCell): string {
  return visibleText(cell).trim() || nothing;
}

type Style = Readonly<{ bold?: true; italic?: true; strike?: true; code?: true }>;

const styles = { strong: { bold: true }, emphasis: { italic: true }, delete: { strike: true } } as const;

function toElements(inline: Inline, style: Style): readonly SlackBlock[] {
  const element = (more: SlackBlock): SlackBlock =>
    Object.keys(style).length === 0 ? more : { ...more, style };
  switch (inline.type) {
    case 'text':
      return inline.value === '' ? [] : [element({ type: 'text', text: inline.value })];
    case 'inlineCode':
      return inline.value === ''
        ? []
        : [{ type: 'text', text: inline.value, style: { ...style, code: true } }];
    case 'break':
      return [{ type: 'text', text: ' ' }];
    case 'link':
      return [element({ type: 'link', url: inline.url, text: visibleText(inline) || inline.url })];
    default:
      return inline.children.flatMap((child) => toElements(child, { ...style, ...styles[inline.type] }));
  }
}

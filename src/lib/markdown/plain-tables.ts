import type { Table, TableRow } from './document.ts';

/** Matches words, numbers and signs that can't be a mark, a link or a character's name. */
const plainCell = /^(?:-|(?=.*[\p{L}\p{N}])[\p{L}\p{N} ,.;?!'"()%+-]*)$/u;
const delimiter = /^:?-+:?$/;
/** Matches marks by which one block may change the meaning of another. */
const farReaching = /```|~~~|\]:/;

/** A piece of a text: a table, or what is between tables. */
type Piece = Readonly<{ table: Table } | { table?: undefined; source: string }>;

/**
 * Separates tables of plain cells, because the parser needs 40 µs for each of their characters (S9). Such a table is
 * between blank lines, and each of its lines begins and ends with a bar.
 */
export function takePlainTables(source: string): readonly Piece[] {
  if (!/^\|/m.test(source) || farReaching.test(source)) return [{ source }];
  const pieces: Piece[] = [];
  let rest: string[] = [];
  const end = (): void => {
    if (rest.length > 0) pieces.push({ source: rest.join('\n') });
    rest = [];
  };
  let block: string[] = [];
  const endBlock = (): void => {
    const table = readTable(block);
    if (table === undefined) rest.push(...block);
    else {
      end();
      pieces.push({ table });
    }
    block = [];
  };
  for (const line of source.split('\n')) {
    if (line.trim() !== '') block.push(line);
    else {
      endBlock();
      rest.push(line);
    }
  }
  endBlock();
  end();
  return pieces;
}

function readTable([head, rule, ...body]: readonly string[]): Table | undefined {
  const names = head === undefined ? undefined : cellsOf(head);
  const rules = rule === undefined ? undefined : cellsOf(rule);
  if (names === undefined || rules?.length !== names.length || !rules.every((one) => delimiter.test(one)))
    return undefined;
  const rows: TableRow[] = [];
  for (const cells of [names, ...body.map(cellsOf)]) {
    if (cells?.length !== names.length) return undefined;
    if (!cells.every((cell) => cell === '' || isPlainCell(cell))) return undefined;
    rows.push({
      type: 'tableRow',
      children: cells.map((value) => ({
        type: 'tableCell',
        children: value === '' ? [] : [{ type: 'text', value }],
      })),
    });
  }
  return { type: 'table', align: rules.map(alignOf), children: rows };
}

function isPlainCell(cell: string): boolean {
  return plainCell.test(cell) && !/www\./i.test(cell) && cell.trim() === cell;
}

function cellsOf(line: string): readonly string[] | undefined {
  if (!/^\|[^\\\t]*\|[ ]*$/.test(line)) return undefined;
  const cells = line.trimEnd().slice(1, -1).split('|');
  return cells.map((cell) => cell.trim());
}

function alignOf(mark: string): Table['align'][number] {
  const [left, right] = [mark.startsWith(':'), mark.endsWith(':')];
  return left && right ? 'center' : left ? 'left' : right ? 'right' : null;
}

const marks = { left: ':--', center: ':-:', right: '--:', none: '---' } as const;

/** Writes a table as the library does, but faster. Undefined if not all of its cells are plain. */
export function writePlainTable({ align, children }: Table): string | undefined {
  const width = children[0]?.children.length ?? 0;
  const lines: string[] = [];
  for (const row of children) {
    const cells = row.children.map(({ children: [only, ...others] }) => {
      if (only === undefined) return '';
      return only.type === 'text' && others.length === 0 && isPlainCell(only.value) ? only.value : undefined;
    });
    if (cells.length !== width || cells.includes(undefined)) return undefined;
    lines.push(lineOf(cells));
    if (lines.length === 1) lines.push(lineOf(cells.map((_, at) => marks[align[at] ?? 'none'])));
  }
  return width === 0 ? undefined : lines.join('\n');
}

function lineOf(cells: readonly (string | undefined)[]): string {
  return `| ${cells.join(' | ')} |`;
}

import type { Budget } from './document-budget.ts';
import { notesOf } from './note-text.ts';
import { relationsOf } from './office-parts.ts';
import { readCell, readFormats, type Cell, type CellFormats } from './sheet-cells.ts';
import { tokensOf, attributeOf } from './xml-tokens.ts';
import type { Zip } from './zip.ts';

type Sheet = Readonly<{ name: string; id: string; hidden: boolean }>;

/** A value further to the right moves to this column. */
const mostColumns = 256;
/** In characters. Excel has no longer cells. */
const longestCell = 32_767;
const longestRow = 100_000;

/**
 * The lines of a workbook: each sheet's name, its rows with values as people see them, and then comments with their
 * cells.
 */
export async function* sheets(zip: Zip, budget: Budget): AsyncIterable<string> {
  const book = 'xl/workbook.xml';
  const listed: Sheet[] = [];
  let from1904 = false;
  for (const { tag, closes, attributes } of tokensOf((await zip.read(book)) ?? '', budget)) {
    if (tag === 'workbookPr') from1904 = /^(?:1|true)$/.test(attributeOf(attributes, 'date1904'));
    if (tag !== 'sheet' || closes) continue;
    const hidden = /hidden/i.test(attributeOf(attributes, 'state'));
    listed.push({
      name: attributeOf(attributes, 'name'),
      id: attributeOf(attributes, '[\\w.-]{1,100}:id'),
      hidden,
    });
  }
  const relations = await relationsOf(zip, book, budget);
  const shared = sharedStrings(await zip.read('xl/sharedStrings.xml'), budget);
  const formats = readFormats(await zip.read('xl/styles.xml'), from1904, budget);
  for (const { name, id, hidden } of listed) {
    const { target = '' } = relations.get(id) ?? {};
    yield `Sheet ${name}${hidden ? ' (hidden)' : ''}`;
    yield* rowsOf(await zip.read(target), { shared, formats }, budget);
    for (const beside of (await relationsOf(zip, target, budget)).values()) {
      if (!beside.type.endsWith('/comments')) continue;
      for (const { attributes, words } of notesOf(await zip.read(beside.target), 'comment', budget))
        yield `Comment at ${attributeOf(attributes, 'ref')}: ${words}`;
    }
    yield '';
  }
}

function sharedStrings(xml = '', budget: Budget): readonly string[] {
  const strings: string[] = [];
  let [inText, inReading] = [false, false];
  for (const { tag, closes, empty, text } of tokensOf(xml, budget)) {
    if (tag === undefined) {
      if (inText && !inReading) strings.push(`${strings.pop() ?? ''}${text}`);
    } else if (tag === 'si' && !closes) strings.push('');
    else if (tag === 't') inText = !closes && !empty;
    // Skips the reading that a file has beside a Japanese word.
    else if (tag === 'rPh') inReading = !closes && !empty;
  }
  return strings;
}

type Known = Readonly<{ shared: readonly string[]; formats: CellFormats }>;

function* rowsOf(xml = '', known: Known, budget: Budget): Iterable<string> {
  let row: string[] = [];
  let length = 0;
  let cell: (Cell & Readonly<{ column: number }>) | undefined;
  let into: 'value' | 'formula' | undefined;
  let inReading = false;
  const end = (): void => {
    const text = cell === undefined ? '' : readCell(cell, known.shared, known.formats).slice(0, longestCell);
    // The file leaves out empty cells, and many cells may share one long text.
    if (cell !== undefined && text !== '' && length < longestRow) {
      while (row.length < cell.column) row.push('');
      row.push(text);
      length += text.length;
    } else if (text !== '') budget.leaveOut();
    cell = undefined;
  };
  for (const { tag, closes, empty, attributes, text } of tokensOf(xml, budget)) {
    if (tag === undefined) {
      if (cell !== undefined && into !== undefined && !inReading)
        cell = { ...cell, [into]: `${cell[into]}${text}` };
    } else if (tag === 'c') {
      end();
      if (closes || empty) continue;
      const column = Math.min(columnOf(attributeOf(attributes, 'r')), mostColumns);
      const style = Number(attributeOf(attributes, 's'));
      cell = { column, style, type: attributeOf(attributes, 't'), value: '', formula: '' };
    } else if (tag === 'v' || tag === 't') into = closes || empty ? undefined : 'value';
    else if (tag === 'f') into = closes || empty ? undefined : 'formula';
    else if (tag === 'rPh') inReading = !closes && !empty;
    else if (tag === 'row' && closes) {
      end();
      if (row.length > 0) yield row.join('\t');
      [row, length] = [[], 0];
    }
  }
}

/** The column of a place, counted from 0: `C7` is 2. */
function columnOf(place: string): number {
  const letters = /^[A-Z]{1,3}/.exec(place)?.[0] ?? '';
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

import { createBudget, type Budget } from './document-budget.ts';
import { slides } from './slides-text.ts';
import { sheets } from './sheets-text.ts';
import { wordDocument } from './word-text.ts';
import { openZip, type Zip, type ZipProblem } from './zip.ts';

/** Reads the lines of a document from its parts. */
export type Reader = (zip: Zip, budget: Budget) => AsyncIterable<string>;

/**
 * The text of a document. `whole` is false if the document says more. `without` names what else people see in it, such
 * as `3 pictures`.
 */
export type OfficeText = Readonly<{ text: string; whole: boolean; without: readonly string[] }>;

export type OfficeProblem = ZipProblem | 'no text';

const unread: readonly (readonly [part: RegExp, one: string, several: string])[] = [
  [/\/media\/[^/]+\.\w+$/, 'picture', 'pictures'],
  [/\/(?:charts\/chart|diagrams\/data)\d*\.xml$/, 'chart', 'charts'],
];

const kinds: readonly (readonly [part: string, read: Reader])[] = [
  ['word/document.xml', wordDocument],
  ['xl/workbook.xml', sheets],
  ['ppt/presentation.xml', slides],
];

/**
 * The text of a DOCX, XLSX or PPTX file: paragraphs, rows and notes as lines, cells separated by tabs, at most `most`
 * characters. Time and memory are bounded whatever the bytes are (S15).
 */
export async function officeText(bytes: Buffer, most: number): Promise<OfficeText | OfficeProblem> {
  const budget = createBudget();
  const zip = openZip(bytes, budget);
  if (typeof zip === 'string') return zip;
  const kind = kinds.find(([part]) => zip.names.includes(part));
  if (kind === undefined) return 'damaged';
  let text = '';
  for await (const line of kind[1](zip, budget)) {
    text += `${line}\n`;
    if (text.length > most) return { text: text.slice(0, most), whole: false, without: withoutOf(zip) };
  }
  if (text.trim() !== '') return { text: text.trimEnd(), whole: budget.isWhole(), without: withoutOf(zip) };
  return budget.isWhole() ? 'no text' : 'damaged';
}

function withoutOf({ names }: Zip): readonly string[] {
  return unread.flatMap(([part, one, several]) => {
    const count = names.filter((name) => part.test(name)).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : several}`];
  });
}

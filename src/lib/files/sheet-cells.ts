import type { Budget } from './document-budget.ts';
import { tokensOf, attributeOf } from './xml-tokens.ts';

export type Cell = Readonly<{ type: string; style: number; value: string; formula: string }>;

/** How numbers of a workbook are shown: a format for each style, and the year in which its days begin. */
export type CellFormats = Readonly<{ codes: readonly string[]; from1904: boolean }>;

/** Formats that a file names only by number (ECMA-376, 18.8.30). Other numbers of that table show plain numbers. */
const builtIn: Readonly<Record<string, string>> = {
  9: '0%',
  10: '0.00%',
  14: 'yyyy-mm-dd',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd h:mm',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  // Dates and times of Chinese, Japanese, Korean and Thai programs.
  ...Object.fromEntries([27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58].map((id) => [id, 'yyyy-mm-dd'])),
  ...Object.fromEntries([32, 33, 34, 35, 55, 56].map((id) => [id, 'h:mm:ss'])),
};

/** In characters. Excel has no longer formats. */
const longestCode = 255;

export function readFormats(xml = '', from1904: boolean, budget: Budget): CellFormats {
  const own = new Map<string, string>();
  const codes: string[] = [];
  let inCells = false;
  for (const { tag, closes, empty, attributes } of tokensOf(xml, budget)) {
    if (tag === 'numFmt') own.set(attributeOf(attributes, 'numFmtId'), attributeOf(attributes, 'formatCode'));
    else if (tag === 'cellXfs') inCells = !closes && !empty;
    else if (tag === 'xf' && !closes && inCells) {
      const id = attributeOf(attributes, 'numFmtId');
      const code = own.get(id) ?? (Object.hasOwn(builtIn, id) ? builtIn[id] : undefined) ?? '';
      codes.push(code.length > longestCode ? '' : code);
    }
  }
  return { codes, from1904 };
}

/** What a person sees in the cell. A formula is shown itself if the file does not contain its result. */
export function readCell(
  { type, style, value, formula }: Cell,
  shared: readonly string[],
  { codes, from1904 }: CellFormats,
): string {
  if (value === '') return formula === '' ? '' : `=${formula}`;
  if (type === 's') return shared[Number(value)] ?? '';
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  if (type !== '' && type !== 'n') return value;
  const number = Number(value);
  return Number.isFinite(number)
    ? (shown(number, codes[style] ?? '', from1904) ?? plain(number, value))
    : value;
}

/** Programs show 15 digits and store noise after them. */
function plain(number: number, written: string): string {
  return written.length > 15 ? String(Number(number.toPrecision(15))) : written;
}

function shown(number: number, code: string, from1904: boolean): string | undefined {
  const [first = '', second] = sections(code);
  const section = number < 0 && second !== undefined ? second : first;
  // Colours, conditions and languages are in brackets, as elapsed time is.
  const marks = section.replace(/"[^"]*"|\\.|_.|\*.|\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi, '');
  if (/general|@/i.test(marks)) return undefined;
  if (/[ymdhs]/i.test(marks.replace(/e[+-]/gi, ''))) return dateOf(number, marks, from1904);
  if (marks.includes('%')) return `${plain(number * 100, String(number * 100))}%`;
  if (/^0{2,}$/.test(section)) return padded(number, section.length);
  return withUnit(number, section);
}

/** The sections of a format. Semicolons within quotes do not separate them. */
function sections(code: string): readonly string[] {
  return (code.match(/(?:"[^"]*"|\\.|[^;"\\])+|;/g) ?? []).filter((section) => section !== ';');
}

/** A number padded with zeros, as for postcodes. */
function padded(number: number, length: number): string | undefined {
  return Number.isInteger(number) && number >= 0 ? String(number).padStart(length, '0') : undefined;
}

/** A number with a currency or unit before or after the digits. */
function withUnit(number: number, section: string): string | undefined {
  const words = section.replace(/\[\$([^\]-]*)[^\]]*\]/g, '"$1"').replace(/\[[^\]]*\]/g, '');
  const [, before, digits, after] = /^([^#0?]*)([#0?][#0?.,\s]*)([^#0?]*)$/.exec(words) ?? [];
  // A comma at the end means division by a thousand.
  if (before === undefined || digits === undefined || after === undefined || /,\s*$/.test(digits))
    return undefined;
  const [left, right] = [literal(before).trimStart(), literal(after).trim()];
  if (left === '' && right === '') return undefined;
  const size = Math.abs(number);
  return `${number < 0 ? '-' : ''}${left}${plain(size, String(size))}${right === '' ? '' : ` ${right}`}`;
}

function literal(part: string): string {
  const words = part.match(/"[^"]*"|\\.|[$€£¥₹₽₩]/g) ?? [];
  return words
    .map((word) => word.replace(/^\\|"/g, ''))
    .join('')
    .replace(/[()\s-]+/g, ' ');
}

const dayMs = 86_400_000;
/** Number of the last day that programs know, 9999-12-31. */
const lastDay = 2_958_465;

/** An ISO date, a time of day or elapsed time. Undefined if the calendar has no such day. */
function dateOf(serial: number, marks: string, from1904: boolean): string | undefined {
  const seconds = Math.round(serial * 86_400);
  if (/\[[hms]+\]/i.test(marks)) return clock(seconds, Math.floor(Math.abs(seconds) / 3_600));
  if (serial < 0 || serial > lastDay) return undefined;
  const hasTime = /[hs]/i.test(marks);
  const hasDate = /[yd]/i.test(marks) || (!hasTime && /m/i.test(marks));
  const time = clock(seconds, Math.floor((seconds % 86_400) / 3_600));
  if (!hasDate) return time;
  const day = Math.floor(seconds / 86_400);
  // Excel's year 1900 has a 29th of February.
  const start = from1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, day < 60 ? 31 : 30);
  const date = new Date(start + day * dayMs).toISOString().slice(0, 10);
  if (hasTime) return `${date} ${time}`;
  return /d/i.test(marks) ? date : date.slice(0, '2026-11'.length);
}

function clock(seconds: number, hours: number): string {
  const size = Math.abs(seconds);
  const two = (value: number): string => String(value).padStart(2, '0');
  const rest = size % 60 === 0 ? '' : `:${two(size % 60)}`;
  return `${seconds < 0 ? '-' : ''}${two(hours)}:${two(Math.floor(size / 60) % 60)}${rest}`;
}

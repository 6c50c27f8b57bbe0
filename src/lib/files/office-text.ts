import { inflateRawSync } from 'node:zlib';

const sizes = { end: 22, central: 46, local: 30 };

const marks = { end: 0x06054b50, central: 0x02014b50, local: 0x04034b50 };

const longestComment = 0xffff;

const mostEntries = 10_000;

type OfficeText = Readonly<{ text: string; whole: boolean }>;

const largestPart = 8_000_000;

type Parts = (name: string) => string | undefined;

const kinds: readonly (readonly [part: string, read: (parts: Parts, names: readonly string[]) => Lines])[] = [
  ['word/document.xml', (parts) => linesOf(parts('word/document.xml'))],
  ['xl/workbook.xml', sheets],
  ['ppt/presentation.xml', slides],
];

type Lines = Iterable<string>;

/** DOCX, XLSX and PPTX: paragraphs and rows as lines, cells between tabs. Undefined if damaged or encrypted. */
export function officeText(bytes: Buffer, most: number): OfficeText | undefined {
  const entries = new Map<string, ZipEntry>((zipEntries(bytes) ?? []).map((entry) => [entry.name, entry]));
  const kind = kinds.find(([part]) => entries.has(part));
  if (kind === undefined) return undefined;
  let missing = false;
  const parts: Parts = (name) => {
    const content = entries.get(name)?.read(largestPart);
    if (content === undefined && entries.has(name)) missing = true;
    return content?.toString('utf8');
  };
  let text = '';
  for (const line of kind[1](parts, [...entries.keys()])) {
    text += `${line}\n`;
    if (text.length > most) return { text: text.slice(0, most), whole: false };
  }
  return text.trim() === '' ? undefined : { text: text.trimEnd(), whole: !missing };
}

type Token = Readonly<{ tag?: string; closes?: boolean; empty?: boolean; attributes: string; text: string }>;

/** Prefixes vary. */
function* tokensOf(xml: string): Iterable<Token> {
  const pattern = /<(\/?)(?:[\w.-]+:)?([\w.-]+)([^<>]*)>|([^<]+)/g;
  for (const [, slash, tag, attributes = '', words] of xml.matchAll(pattern)) {
    if (tag === undefined) yield { attributes: '', text: unescaped(words ?? '') };
    else yield { tag, closes: slash === '/', empty: attributes.endsWith('/'), attributes, text: '' };
  }
}

/** Only `t` holds text. */
function* linesOf(xml = ''): Lines {
  let line = '';
  let inText = false;
  let cells = 0;
  for (const { tag, closes = false, empty = false, text } of tokensOf(xml)) {
    if (tag === undefined) line += inText ? text : '';
    else if (tag === 't') inText = !closes && !empty;
    else if (tag === 'tab' && empty) line += '\t';
    else if (tag === 'br' || tag === 'cr') line += cells > 0 ? ' ' : '\n';
    else if (tag === 'tc' && !empty) {
      cells += closes ? -1 : 1;
      if (closes) line = `${line.trimEnd()}\t`;
    } else if (tag === 'p' && closes && cells > 0) line += ' ';
    else if ((tag === 'p' || tag === 'tr') && closes) {
      yield line.trimEnd();
      line = '';
    }
  }
}

function* slides(parts: Parts, names: readonly string[]): Lines {
  const numbers = names.flatMap((name) => /^ppt\/slides\/slide(\d{1,5})\.xml$/.exec(name)?.[1] ?? []);
  for (const number of numbers.map(Number).sort((one, other) => one - other)) {
    yield `Slide ${number}`;
    yield* [...linesOf(parts(`ppt/slides/slide${number}.xml`))].filter((line) => line !== '');
    yield '';
  }
}

function* sheets(parts: Parts): Lines {
  const targets = new Map<string, string>();
  for (const { tag, attributes } of tokensOf(parts('xl/_rels/workbook.xml.rels') ?? ''))
    if (tag === 'Relationship') targets.set(valueOf(attributes, 'Id'), valueOf(attributes, 'Target'));
  const shared = sharedStrings(parts('xl/sharedStrings.xml'));
  for (const { tag, attributes } of tokensOf(parts('xl/workbook.xml') ?? '')) {
    if (tag !== 'sheet') continue;
    const target = targets.get(valueOf(attributes, '(?:[\\w.-]+:)?id')) ?? '';
    yield `Sheet ${valueOf(attributes, 'name')}`;
    yield* rowsOf(parts(target.startsWith('/') ? target.slice(1) : `xl/${target}`), shared);
    yield '';
  }
}

function sharedStrings(xml = ''): readonly string[] {
  const strings: string[] = [];
  let [inText, inReading] = [false, false];
  for (const { tag, closes = false, empty = false, text } of tokensOf(xml)) {
    if (tag === undefined) {
      if (inText && !inReading) strings.push(`${strings.pop() ?? ''}${text}`);
    } else if (tag === 'si' && !closes) strings.push('');
    else if (tag === 't') inText = !closes && !empty;
    // Skips the reading beside a Japanese word.
    else if (tag === 'rPh') inReading = !closes && !empty;
  }
  return strings;
}

function* rowsOf(xml = '', shared: readonly string[]): Lines {
  let row: string[] = [];
  let type = '';
  let inValue = false;
  for (const { tag, closes = false, empty = false, attributes, text } of tokensOf(xml)) {
    if (tag === undefined) {
      if (inValue) row.push(`${row.pop() ?? ''}${type === 's' ? (shared[Number(text)] ?? '') : text}`);
    } else if (tag === 'c' && !closes) {
      type = valueOf(attributes, 't');
      // The file leaves out empty cells.
      const column = Math.min(columnOf(valueOf(attributes, 'r')), 256);
      while (row.length < column) row.push('');
      row.push('');
    } else if (tag === 'v' || tag === 't') inValue = !closes && !empty && row.length > 0;
    else if (tag === 'row' && closes) {
      if (row.some((cell) => cell !== '')) yield row.join('\t');
      row = [];
    }
  }
}

/** `C7` is 2. */
function columnOf(place: string): number {
  const letters = /^[A-Z]{1,3}/.exec(place)?.[0] ?? '';
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function valueOf(attributes: string, name: string): string {
  return unescaped(
    new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(attributes)?.slice(1).join('') ?? '',
  );
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(#x[\da-f]{1,6}|#\d{1,7}|\w{2,4});/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return named[name] ?? whole;
    const code = Number(name.slice(1).replace(/^x/i, '0x'));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
  });
}

type ZipEntry = Readonly<{
  name: string;
  /** Undefined if above `most`, damaged, encrypted or packed otherwise. */
  read(most: number): Buffer | undefined;
}>;

function zipEntries(bytes: Buffer): readonly ZipEntry[] | undefined {
  const end = endOf(bytes);
  if (end === undefined) return undefined;
  const count = bytes.readUInt16LE(end + 10);
  if (count > mostEntries) return undefined;
  const entries: ZipEntry[] = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    if (at + sizes.central > bytes.length || bytes.readUInt32LE(at) !== marks.central) return undefined;
    const place = at;
    const start = at + sizes.central;
    const nameEnd = start + bytes.readUInt16LE(at + 28);
    entries.push({
      name: bytes.toString('utf8', start, nameEnd),
      read: (most) => contentAt(bytes, place, most),
    });
    at = nameEnd + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return entries;
}

function endOf(bytes: Buffer): number | undefined {
  const last = bytes.length - sizes.end;
  for (let at = last; at >= Math.max(0, last - longestComment); at--)
    if (bytes.readUInt32LE(at) === marks.end) return at;
  return undefined;
}

function contentAt(bytes: Buffer, central: number, most: number): Buffer | undefined {
  const encrypted = (bytes.readUInt16LE(central + 8) & 1) === 1;
  const method = bytes.readUInt16LE(central + 10);
  const packed = bytes.readUInt32LE(central + 20);
  const size = bytes.readUInt32LE(central + 24);
  const local = bytes.readUInt32LE(central + 42);
  if (encrypted || size > most || local + sizes.local > bytes.length) return undefined;
  if (bytes.readUInt32LE(local) !== marks.local) return undefined;
  const start = local + sizes.local + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
  const content = bytes.subarray(start, start + packed);
  if (method === 0) return content.length <= most ? content : undefined;
  if (method !== 8) return undefined;
  try {
    // The directory's sizes may be lies.
    return inflateRawSync(content, { maxOutputLength: most });
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

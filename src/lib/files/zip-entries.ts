import { inflateRawSync } from 'node:zlib';

/** An entry of a ZIP archive. */
export type ZipEntry = Readonly<{
  name: string;
  /** Its bytes. Nothing where they are more than `most`, damaged, encrypted or packed in a way that is not read here. */
  read(most: number): Buffer | undefined;
}>;

const sizes = { end: 22, central: 46, local: 30 };
const marks = { end: 0x06054b50, central: 0x02014b50, local: 0x04034b50 };
const longestComment = 0xffff;
const mostEntries = 10_000;

/** The entries of a ZIP archive in memory, as its directory lists them. Nothing where it has none that can be read. */
export function zipEntries(bytes: Buffer): readonly ZipEntry[] | undefined {
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
    // Behind the name: more about the entry, and a comment.
    at = nameEnd + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return entries;
}

/** Where the end of the directory begins: a comment may follow it. */
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
    // What the directory says of its size is a claim.
    return inflateRawSync(content, { maxOutputLength: most });
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

import { Readable } from 'node:stream';
import { createInflateRaw } from 'node:zlib';
import type { Budget } from './document-budget.ts';

const sizes = { end: 22, central: 46, local: 30 };

const marks = { end: 0x06054b50, central: 0x02014b50, local: 0x04034b50 };

const longestComment = 0xffff;

export const mostEntries = 10_000;

export type Zip = Readonly<{
  names: readonly string[];
  /**
   * The text of a part, or its beginning if the budget has less left. Undefined if there is no such part, if it was
   * read before, or if it is encrypted or damaged.
   */
  read(name: string): Promise<string | undefined>;
}>;

/** Why an archive is not read. `overlaps`: parts share bytes or a name, which no program writes. */
export type ZipProblem = 'damaged' | 'overlaps';

/** A part. Its bytes, header included, are from `from` to `end`; its content begins at `start`. */
type Entry = Readonly<{ from: number; start: number; end: number; method: number; encrypted: boolean }>;

/** Opens an archive. Each part can be read once, and all parts count against one budget (S15). */
export function openZip(bytes: Buffer, budget: Budget): Zip | ZipProblem {
  const entries = entriesOf(bytes);
  if (typeof entries === 'string') return entries;
  const unread = new Map(entries);
  return {
    names: [...entries.keys()],
    async read(name) {
      const entry = unread.get(name);
      unread.delete(name);
      const content = entry === undefined ? undefined : await contentOf(bytes, entry, budget);
      if (content === undefined && entries.has(name)) budget.leaveOut();
      return content?.toString('utf8');
    },
  };
}

function entriesOf(bytes: Buffer): ReadonlyMap<string, Entry> | ZipProblem {
  const end = endOf(bytes);
  if (end === undefined) return 'damaged';
  const count = bytes.readUInt16LE(end + 10);
  if (count > mostEntries) return 'damaged';
  const entries = new Map<string, Entry>();
  const listed = bytes.readUInt32LE(end + 16);
  for (let at = listed, index = 0; index < count; index++) {
    if (at + sizes.central > end || bytes.readUInt32LE(at) !== marks.central) return 'damaged';
    const nameEnd = at + sizes.central + bytes.readUInt16LE(at + 28);
    const name = bytes.toString('utf8', at + sizes.central, nameEnd);
    const entry = entryAt(bytes, at);
    if (entry === undefined) return 'damaged';
    if (entries.has(name)) return 'overlaps';
    entries.set(name, entry);
    at = nameEnd + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  const sorted = [...entries.values()].sort((one, other) => one.from - other.from);
  const overlap = sorted.some((entry, index) => entry.end > (sorted[index + 1]?.from ?? listed));
  return overlap ? 'overlaps' : entries;
}

function endOf(bytes: Buffer): number | undefined {
  const last = bytes.length - sizes.end;
  for (let at = last; at >= Math.max(0, last - longestComment); at--)
    if (bytes.readUInt32LE(at) === marks.end) return at;
  return undefined;
}

function entryAt(bytes: Buffer, central: number): Entry | undefined {
  const from = bytes.readUInt32LE(central + 42);
  if (from + sizes.local > bytes.length || bytes.readUInt32LE(from) !== marks.local) return undefined;
  const start = from + sizes.local + bytes.readUInt16LE(from + 26) + bytes.readUInt16LE(from + 28);
  return {
    from,
    start,
    end: start + bytes.readUInt32LE(central + 20),
    method: bytes.readUInt16LE(central + 10),
    encrypted: (bytes.readUInt16LE(central + 8) & 1) === 1,
  };
}

async function contentOf(
  bytes: Buffer,
  { start, end, method, encrypted }: Entry,
  budget: Budget,
): Promise<Buffer | undefined> {
  if (encrypted || (method !== 0 && method !== 8)) return undefined;
  const most = budget.bytesLeft();
  const packed = bytes.subarray(start, end);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // The sizes in the directory may be false.
    const source = Readable.from([packed], { objectMode: false });
    const unpacked: AsyncIterable<Buffer> = method === 0 ? source : source.pipe(createInflateRaw());
    for await (const chunk of unpacked) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= most) break;
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
  if (size >= most) budget.leaveOut();
  budget.unpacked(size);
  return Buffer.concat(chunks).subarray(0, Math.max(0, most));
}

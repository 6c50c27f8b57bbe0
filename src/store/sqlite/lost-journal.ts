import { existsSync, readFileSync, statSync } from 'node:fs';

/** Sizes and offsets in SQLite's `-shm` and `-wal` files (sqlite.org/walformat.html). */
const indexHeader = 48;
const journalHeader = 32;
const frameHeader = 24;

/** What the last process had written, as the shared memory file tells. */
type Witness = Readonly<{
  /** How many frames the journal had. */
  frames: number;
  /** How many of the frames are already in the database. */
  moved: number;
  /** How many pages the database has together with the journal. */
  pages: number;
  /** Size of one page in bytes. */
  pageSize: number;
  salts: Buffer;
}>;

/**
 * What is lost. `isUsable` is true if the rest is consistent. Otherwise SQLite would drop or mix pages, so the file
 * must not be opened.
 */
export type LostJournal = Readonly<{ why: string; isUsable: boolean }>;

/**
 * What is missing of a store whose process was killed; undefined if nothing is, or if nobody can tell. SQLite silently
 * drops the end of a damaged journal. Its index in shared memory survives a kill and still tells how long the journal
 * was. After a restart of the machine it may be ahead of the disk. So ask only within the same boot, and while nobody
 * has the store open.
 */
export function lostJournal(file: string): LostJournal | undefined {
  const witness = readWitness(`${file}-shm`);
  if (witness === undefined || witness.frames === 0) return undefined;
  const { frames, moved, pages, pageSize } = witness;
  const journal = readJournal(`${file}-wal`, witness);
  const ownPages = Math.floor((statSync(file, { throwIfNoEntry: false })?.size ?? 0) / pageSize);
  if (ownPages === 0) return { why: `${file} is empty, and its journal was not`, isUsable: false };
  const isWhole = journal.frames >= frames || (journal.frames === 0 && moved === frames);
  if (!isWhole)
    return {
      why: `its journal ${file}-wal ends early: of ${frames} pages that were written, ${journal.frames} are left. What was stored last is lost, and messages of that time may be answered again`,
      isUsable: true,
    };
  for (let page = ownPages + 1; page <= pages; page++)
    if (!journal.pages.has(page))
      return {
        why: `${file} is shorter than its journal says: it was cut, or an older copy was put beside that journal`,
        isUsable: false,
      };
  return undefined;
}

/** Reads the shared memory file. Undefined if no process was killed, or if it was killed while it wrote this. */
function readWitness(file: string): Witness | undefined {
  // The file has 32 kB for each 4,000 frames.
  const head = readOrEmpty(file);
  if (head.length < 2 * indexHeader + 4) return undefined;
  const [one, two] = [head.subarray(0, indexHeader), head.subarray(indexHeader, 2 * indexHeader)];
  const isWritten = one[12] === 1 && one.equals(two);
  if (!isWritten) return undefined;
  const words = new Uint32Array(new Uint8Array(head.subarray(0, 2 * indexHeader + 4)).buffer);
  const [frames = 0, pages = 0, moved = 0] = [words[4], words[5], words[24]];
  const [shortSize = 0] = new Uint16Array(new Uint8Array(one.subarray(14, 16)).buffer);
  return {
    frames,
    pages,
    moved,
    pageSize: shortSize === 1 ? 65_536 : shortSize,
    salts: one.subarray(32, 40),
  };
}

/** The frames that SQLite would find, and the pages in them. */
function readJournal(
  file: string,
  { salts, pageSize }: Witness,
): Readonly<{ frames: number; pages: ReadonlySet<number> }> {
  const pages = new Set<number>();
  let frames = 0;
  const bytes = readOrEmpty(file);
  const isSame =
    bytes.length >= journalHeader &&
    bytes.subarray(16, 24).equals(salts) &&
    bytes.readUInt32BE(8) === pageSize;
  const add = createChecksum(bytes, isSame && (bytes.readUInt32BE(0) & 1) === 0);
  if (!isSame || !add(0, 24, 24)) return { frames, pages };
  for (let at = journalHeader; at + frameHeader + pageSize <= bytes.length; at += frameHeader + pageSize) {
    if (!bytes.subarray(at + 8, at + 16).equals(salts)) break;
    add(at, 8);
    if (!add(at + frameHeader, pageSize, at + 16)) break;
    frames += 1;
    pages.add(bytes.readUInt32BE(at));
  }
  return { frames, pages };
}

/** Adds bytes to a checksum. False if the sum differs from the one stored at `sumAt`. */
function createChecksum(
  bytes: Buffer,
  isLittle: boolean,
): (from: number, length: number, sumAt?: number) => boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let [one, two] = [0, 0];
  return (from, length, sumAt) => {
    for (let at = from; at < from + length; at += 8) {
      one = (one + view.getUint32(at, isLittle) + two) >>> 0;
      two = (two + view.getUint32(at + 4, isLittle) + one) >>> 0;
    }
    return sumAt === undefined || (view.getUint32(sumAt) === one && view.getUint32(sumAt + 4) === two);
  };
}

function readOrEmpty(file: string): Buffer {
  return existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
}

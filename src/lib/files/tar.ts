import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

/** A plain file of an archive. `name` is relative, with `/` between folders. */
export type TarMember = Readonly<{ name: string; size: number; mode: number; mtimeMs: number }>;

/** A file in an archive. `at` is where its bytes begin, `header` where its first header begins. */
export type FoundMember = TarMember & Readonly<{ at: number; header: number }>;

const block = 512;
/** The largest size that the octal digits of ustar can hold. */
const largestPlain = 8 ** 11 - 1;
const longestExtension = 65_536;

/**
 * Appends to an open, empty file in the ustar format, with a pax header for long or non-ASCII names and for sizes from
 * 8 GiB.
 */
export function createTarWriter(handle: FileHandle) {
  const hash = createHash('sha256');

  async function write(bytes: Uint8Array): Promise<void> {
    hash.update(bytes);
    for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at)).bytesWritten;
  }

  return {
    /** Adds a file. `pieces` have to be as many bytes as `member.size`. */
    async add(member: TarMember, pieces: Iterable<Uint8Array>): Promise<void> {
      if (problemOf(member.name) !== undefined) throw new Error(`a name for no archive: ${member.name}`);
      await write(headerOf(member));
      for (const piece of pieces) await write(piece);
      await write(Buffer.alloc(padding(member.size)));
    },
    /** SHA-256 of all bytes so far, in hexadecimal. */
    sha256: () => hash.copy().digest('hex'),
    end: () => write(Buffer.alloc(2 * block)),
  };
}

/**
 * Lists the files of an archive. Throws if it is cut off or damaged, and if it contains anything but plain files with
 * relative names, each once.
 */
export async function listTar(handle: FileHandle): Promise<readonly FoundMember[]> {
  const { size: end } = await handle.stat();
  const members: FoundMember[] = [];
  const names = new Set<string>();
  let extension: ReadonlyMap<string, string> = new Map();
  let first: number | undefined;
  for (let at = 0; ;) {
    const bytes = await readAt(handle, at, block);
    if (bytes.every((byte) => byte === 0)) return members;
    const header = readHeader(bytes, at);
    first ??= at;
    const size = Number(extension.get('size') ?? header.size);
    const from = at + block;
    at = from + size + padding(size);
    if (!(at <= end)) throw new Error('it is cut off');
    if (header.type === 'x') {
      if (size > longestExtension) throw new Error(`the header at byte ${from - block} is too long`);
      extension = readExtension(await readAt(handle, from, size));
      continue;
    }
    const name = extension.get('path') ?? header.name;
    const problem = header.type === '0' ? problemOf(name) : 'is no plain file';
    if (problem !== undefined) throw new Error(`${JSON.stringify(name)} ${problem}`);
    if (names.has(name)) throw new Error(`${JSON.stringify(name)} is in it twice`);
    names.add(name);
    members.push({ name, size, mode: header.mode, mtimeMs: header.mtimeMs, at: from, header: first });
    extension = new Map();
    first = undefined;
  }
}

async function readAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await handle.read(bytes, 0, length, at);
  if (bytesRead < length) throw new Error('it is cut off');
  return bytes;
}

/** What is wrong with a name; undefined if it can't lead out of a folder. */
function problemOf(name: string): string | undefined {
  const parts = name.split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'));
  return isPlain ? undefined : 'is no relative path of names';
}

function headerOf({ name, size, mode, mtimeMs }: TarMember): Buffer {
  const fits = /^[\x20-\x7e]{1,100}$/.test(name);
  const seconds = Math.max(0, Math.floor(mtimeMs / 1_000));
  const records = [
    ...(fits ? [] : [record('path', name)]),
    ...(size > largestPlain ? [record('size', String(size))] : []),
  ];
  const short = fits ? name : 'long-name';
  const own = ustar(short, size > largestPlain ? 0 : size, '0', mode, seconds);
  if (records.length === 0) return own;
  const text = Buffer.concat(records);
  return Buffer.concat([
    ustar('pax-header', text.length, 'x', 0o600, seconds),
    text,
    Buffer.alloc(padding(text.length)),
    own,
  ]);
}

function ustar(name: string, size: number, type: '0' | 'x', mode: number, seconds: number): Buffer {
  const header = Buffer.alloc(block);
  const octal = (value: number, at: number, length: number): void =>
    void header.write(value.toString(8).padStart(length - 1, '0'), at, 'latin1');
  header.write(name, 0, 'latin1');
  octal(mode & 0o777, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(seconds, 136, 12);
  header.write(`${type}`, 156, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  header.write(`${sumOf(header).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

/** The checksum of a header. Its own field counts as eight blanks. */
function sumOf(header: Buffer): number {
  return header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0);
}

function readHeader(header: Buffer, at: number) {
  const text = (from: number, length: number): string =>
    header.toString('latin1', from, from + length).replace(/\0.*$/s, '');
  const octal = (from: number, length: number): number =>
    Number.parseInt(text(from, length).trim() || '0', 8);
  if (octal(148, 8) !== sumOf(header)) throw new Error(`it is damaged at byte ${at}`);
  return {
    name: [text(345, 155), text(0, 100)].filter((part) => part !== '').join('/'),
    mode: octal(100, 8),
    size: octal(124, 12),
    mtimeMs: octal(136, 12) * 1_000,
    type: text(156, 1) || '0',
  };
}

/** A pax record `LENGTH KEY=VALUE\n`, whose length includes itself. */
function record(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

function readExtension(bytes: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const length = Number.parseInt(bytes.toString('latin1', at, at + 8), 10);
    const [, key, value] = /^\d+ ([^=]+)=(.*)\n$/s.exec(bytes.toString('utf8', at, at + length)) ?? [];
    if (key === undefined || value === undefined) throw new Error('an extended header is damaged');
    records.set(key, value);
    at += length;
  }
  return records;
}

function padding(size: number): number {
  return (block - (size % block)) % block;
}

import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config/complete-config.ts';
import { skilletVersion } from '../../core/version.ts';
import { enterFolder, openInside, unlessRefused } from '../../lib/files/open-inside.ts';
import { createTarWriter } from '../../lib/files/tar.ts';
import { hasCode } from '../../lib/has-code.ts';
import { writeWhole } from '../../store/write-whole.ts';
import { archiveFormat, endMember, firstMember, type ArchiveHead } from './archive-head.ts';
import { archiveParts, storeMember, type ArchiveGroup, type ArchivePart } from './archive-parts.ts';

export type Held = Readonly<{ group: ArchiveGroup; name: string; files: number; bytes: number }>;

export type WrittenArchive = Readonly<{
  held: readonly Held[];
  /** Links, pipes and files that this user may not read, by their names in the archive. */
  leftOut: readonly string[];
}>;

const atOnce = 1_048_576;
const lastBytes = 65_536;

/**
 * Writes one tar file (0600), whole or not at all, and overwrites nothing (L16). `copy` is a copy of the store that was
 * made before, so that files of a running bot may be newer than its store but not older. Throws OperatorError.
 */
export async function writeArchive(
  file: string,
  {
    config,
    copy,
    secrets,
    signal,
  }: Readonly<{ config: Config; copy: string | undefined; secrets: boolean; signal: AbortSignal }>,
): Promise<WrittenArchive> {
  const leftOut: string[] = [];
  const held: Held[] = [];
  const parts: readonly ArchivePart[] = [
    ...(copy === undefined ? [] : [{ name: storeMember, at: copy, kind: 'file', group: 'store' } as const]),
    ...archiveParts(config).filter(({ group }) => secrets || group !== 'secrets'),
  ];
  await writeWhole(file, async (draft) => {
    const handle = await open(draft, 'w', 0o600);
    try {
      const tar = createTarWriter(handle);
      const note = (name: string, data: object): Promise<void> =>
        addText(tar, name, `${JSON.stringify(data, null, 2)}\n`);
      await note(firstMember, headOf(config, copy !== undefined));
      for (const part of parts) {
        const sum = await addPart(tar, part, { leftOut, signal });
        if (sum.files > 0) held.push({ group: part.group, name: part.name, ...sum });
      }
      await note(endMember, { sha256: tar.sha256() });
      await tar.end();
      await handle.sync();
    } finally {
      await handle.close();
    }
  });
  return { held, leftOut };
}

type TarWriter = ReturnType<typeof createTarWriter>;

/** Adds a file, or a folder with all in it. Links, pipes and what this user may not read are noted in `leftOut`. */
export async function addPart(
  tar: TarWriter,
  part: ArchivePart,
  { leftOut, signal }: Readonly<{ leftOut: string[]; signal?: AbortSignal }>,
): Promise<Readonly<{ files: number; bytes: number }>> {
  const sum = { files: 0, bytes: 0 };
  for (const { name, descriptor, stats } of filesOf(part, leftOut)) {
    try {
      signal?.throwIfAborted();
      const size = part.group === 'audit' ? wholeLines(descriptor, stats.size) : stats.size;
      await tar.add({ name, size, mode: stats.mode, mtimeMs: stats.mtimeMs }, piecesOf(descriptor, size));
      sum.files += 1;
      sum.bytes += size;
    } finally {
      closeSync(descriptor);
    }
  }
  return sum;
}

/** Adds a small file with this text. */
export async function addText(tar: TarWriter, name: string, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  await tar.add({ name, size: bytes.length, mode: 0o600, mtimeMs: Date.now() }, [bytes]);
}

function headOf({ path: file, store }: Config, hasStore: boolean): ArchiveHead {
  return {
    format: archiveFormat,
    skillet: skilletVersion(),
    at: new Date().toISOString(),
    config: file === undefined ? null : path.basename(file),
    store: hasStore ? 'copied' : /^postgres(ql)?:/.test(store.url) ? 'postgres' : 'none',
  };
}

type OpenFile = Readonly<{ name: string; descriptor: number; stats: Stats }>;

function* filesOf({ name, at, kind }: ArchivePart, leftOut: string[]): Generator<OpenFile> {
  if (kind === 'folder') {
    yield* filesIn(at, name, [], leftOut);
    return;
  }
  try {
    const descriptor = openSync(at, 'r');
    yield { name, descriptor, stats: fstatSync(descriptor) };
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error;
  }
}

/** Commands of skills may change these folders meanwhile, so no link is followed. */
function* filesIn(
  root: string,
  part: string,
  names: readonly string[],
  leftOut: string[],
): Generator<OpenFile> {
  const folder = enterFolder(root, names);
  if (folder === undefined) return;
  let inside: readonly string[] | undefined;
  const kinds = new Map<string, Stats>();
  try {
    inside = unlessRefused(() => readdirSync(folder.self))?.toSorted();
    for (const one of inside ?? []) {
      const stats = unlessRefused(() => lstatSync(folder.at(one)));
      if (stats !== undefined) kinds.set(one, stats);
    }
  } finally {
    folder.leave();
  }
  if (inside === undefined) leftOut.push([part, ...names].join('/'));
  for (const [one, stats] of kinds) {
    const way = [...names, one];
    if (stats.isDirectory()) {
      yield* filesIn(root, part, way, leftOut);
      continue;
    }
    const descriptor = stats.isFile() ? openInside({ root, names: way }, { alone: false }) : undefined;
    const name = [part, ...way].join('/');
    if (descriptor === undefined) leftOut.push(name);
    else yield { name, descriptor, stats: fstatSync(descriptor) };
  }
}

/** Exactly `size` bytes: if the file has become shorter, zeros fill it up. */
function* piecesOf(descriptor: number, size: number): Generator<Buffer> {
  for (let at = 0; at < size;) {
    const piece = Buffer.alloc(Math.min(atOnce, size - at));
    const read = readSync(descriptor, piece, 0, piece.length, at);
    yield read === 0 ? piece : piece.subarray(0, read);
    at += read === 0 ? piece.length : read;
  }
}

/** The size up to the last whole line, because the bot may be writing the next one. */
function wholeLines(descriptor: number, size: number): number {
  const tail = Buffer.alloc(Math.min(lastBytes, size));
  const read = readSync(descriptor, tail, 0, tail.length, size - tail.length);
  return size - tail.length + tail.subarray(0, read).lastIndexOf(0x0a) + 1;
}

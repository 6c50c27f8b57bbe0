import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { enterFolder, unlessRefused } from '../lib/files/open-inside.ts';
import { hasCode } from '../lib/has-code.ts';
import { chunkSize, type StoredFile, type StoredFiles } from '../store/stored-files.ts';
import { seenAt } from './scan-folder.ts';

/** How many bytes one statement returns at most. The next line limits its chunks. */
const window = 8 * chunkSize;
const mostChunks = 200;

/** A chunk is not stored any more, because its file was replaced meanwhile. */
export class ChunkGone extends Error {
  override readonly name = 'ChunkGone';
}

/** Yields the contents of files in the order given, and reads one window ahead. Throws ChunkGone. */
export async function* fetchContents(
  files: StoredFiles,
  wanted: readonly StoredFile[],
): AsyncGenerator<Readonly<{ file: StoredFile; bytes: Buffer; isLast: boolean }>> {
  const pieces = wanted.flatMap((file) =>
    file.chunks.map((chunk, n) => ({ file, chunk, isLast: n === file.chunks.length - 1 })),
  );
  const windows = inWindows(pieces);
  let next = windows[0] === undefined ? undefined : files.get(windows[0].map(({ chunk }) => chunk));
  for (const [n, window] of windows.entries()) {
    const got = await next;
    const after = windows[n + 1];
    next = after === undefined ? undefined : files.get(after.map(({ chunk }) => chunk));
    // A reader that stops early leaves this promise behind.
    next?.catch(() => undefined);
    for (const [place, { file, isLast }] of window.entries()) {
      const bytes = got?.[place];
      if (bytes === undefined) throw new ChunkGone(`a part of ${file.path} is not stored any more`);
      yield { file, bytes, isLast };
    }
  }
}

function inWindows<Piece extends Readonly<{ file: StoredFile }>>(
  pieces: readonly Piece[],
): readonly (readonly Piece[])[] {
  const windows: Piece[][] = [];
  let room = 0;
  for (const piece of pieces) {
    const size = Math.min(piece.file.size, chunkSize);
    const last = windows.at(-1);
    if (last === undefined || size > room || last.length >= mostChunks) {
      windows.push([piece]);
      room = window - size;
    } else {
      last.push(piece);
      room -= size;
    }
  }
  return windows;
}

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

/** A time in nanoseconds after which nothing changes. */
const never = BigInt(Number.MAX_SAFE_INTEGER) * 1_000n;

/** A file that is written beside its place and then renamed. */
export type FileDraft = Readonly<{
  add(bytes: Buffer): void;
  /** Puts the file in its place and returns its mark; undefined if something is in the way. */
  finish(): string | undefined;
  drop(): void;
}>;

/** Begins a file without following links (T13). Undefined if it can't be written there. */
export function openDraft(root: string, file: StoredFile): FileDraft | undefined {
  const names = file.path.split('/');
  const folder = enterFolder(root, names.slice(0, -1), { make: true });
  if (folder === undefined) return undefined;
  const draft = folder.at(`.${randomBytes(6).toString('hex')}.part`);
  const entry = folder.at(names.at(-1) ?? '');
  const mode = file.executable ? 0o700 : 0o600;
  const descriptor = tryInside(() => openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode));
  if (descriptor === undefined) {
    folder.leave();
    return undefined;
  }
  const end = (): void => {
    closeSync(descriptor);
    folder.leave();
  };
  return {
    add(bytes) {
      for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
    },
    finish() {
      futimesSync(descriptor, file.changedAt / 1_000, file.changedAt / 1_000);
      const mark = tryInside(() => {
        renameSync(draft, entry);
        return seenAt(entry, never)?.mark;
      });
      unlessRefused(() => unlinkSync(draft));
      end();
      return mark;
    },
    drop() {
      unlessRefused(() => unlinkSync(draft));
      end();
    },
  };
}

/** Creates a folder or link. False if something is in the way. */
export function placeEntry(root: string, { path, kind, target }: StoredFile): boolean {
  const names = path.split('/');
  const folder = enterFolder(root, names.slice(0, -1), { make: true });
  if (folder === undefined) return false;
  const entry = folder.at(names.at(-1) ?? '');
  try {
    const placed = tryInside(() => {
      const before = unlessRefused(() => lstatSync(entry));
      if (kind === 'folder' && before?.isDirectory() === true) return true;
      if (before !== undefined) unlinkSync(entry);
      if (kind === 'folder') mkdirSync(entry, { mode: 0o700 });
      else symlinkSync(target, entry);
      return true;
    });
    return placed === true;
  } finally {
    folder.leave();
  }
}

/** Returns undefined if a command put something in the way. Any other error is a fault of the disk and is thrown. */
function tryInside<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (hasCode(error, 'EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ELOOP')) return undefined;
    throw error;
  }
}

/** Removes a file, a link or an empty folder, and leaves anything else. */
export function removeEntry(root: string, path: string): void {
  const names = path.split('/');
  const folder = enterFolder(root, names.slice(0, -1));
  if (folder === undefined) return;
  const entry = folder.at(names.at(-1) ?? '');
  unlessRefused(() => {
    if (!lstatSync(entry).isDirectory()) return unlinkSync(entry);
    chmodSync(folder.self, 0o700);
    return rmdirSync(entry);
  });
  folder.leave();
}

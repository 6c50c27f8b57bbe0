import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, type Dirent } from 'node:fs';
import { join } from 'node:path';
import type { SourceAddress } from '../../config/source-address.ts';
import { OperatorError } from '../../core/errors.ts';
import { createYieldToEventLoop } from '../../lib/async/mutex.ts';
import { readBytes } from '../../lib/files/read-text.ts';
import { decodeText } from '../../lib/text/text.ts';
import { installedFileLimit } from './hash-skill.ts';

export const installLimits: InstallLimits = {
  timeMs: 300_000,
  packBytes: 256 * 1024 * 1024,
  entries: 50_000,
  fileBytes: installedFileLimit,
  skillFiles: 1_000,
  skillBytes: 25 * 1024 * 1024,
  totalBytes: 100 * 1024 * 1024,
};

export type SourceEntry = Readonly<{
  /** Path from the top of the source, with `/`. If there is a `problem`, it may be only partly readable. */
  path: string;
  kind: 'file' | 'link' | 'submodule';
  size: number;
  executable: boolean;
  id: string;
  problem?: string;
}>;

/** The state of a source, which later changes do not affect. Open until `close`. */
export type SourceSnapshot = Readonly<{
  address: SourceAddress;
  /** The commit. Undefined for a plain folder. */
  commit?: string;
  /** All entries of the source, in path order. */
  entries: readonly SourceEntry[];
  /** Reads files in the given order. Throws OperatorError if one can't be read. */
  read(files: readonly SourceEntry[]): Promise<readonly Buffer[]>;
  close(): void;
}>;

export type OpenSource = Readonly<{
  address: SourceAddress;
  /** Branch, tag or commit. Undefined: the default branch. */
  ref?: string;
  quarantine: string;
  limits: InstallLimits;
  signal: AbortSignal;
  progress: (text: string) => void;
  env: Readonly<Record<string, string | undefined>>;
}>;

/** Says why a path may not be installed. Undefined if it may (D6, S1). */
export function pathProblem(path: string): string | undefined {
  const parts = path.split('/');
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'its path is absolute';
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    return 'its path leads elsewhere ("..", "." or an empty name)';
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\\]/u.test(path))
    return 'its name holds characters that steer a terminal, can\'t be seen, or "\\"';
  if (parts.some(isGitFolder)) return 'its path goes through a ".git"';
  if (parts.length > 16 || path.length > 1_000 || parts.some((part) => Buffer.byteLength(part) > 255))
    return 'its path is too long';
  return undefined;
}

/** Whether a name is `.git` in a spelling that some file system accepts. */
function isGitFolder(part: string): boolean {
  return /^(?:\.git|git~\d+)(?:$|:|[. ]+$)/i.test(part.normalize('NFKC'));
}

export type InstallLimits = Readonly<{
  /** How many milliseconds fetching may take. */
  timeMs: number;
  /** How many bytes git may store of a repository. The kernel stops git at this limit. */
  packBytes: number;
  entries: number;
  fileBytes: number;
  skillFiles: number;
  skillBytes: number;
  totalBytes: number;
}>;

/** A number of bytes as people write it. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const mebi = bytes / (1024 * 1024);
  return mebi < 1 ? `${(bytes / 1024).toFixed(1)} KB` : `${mebi.toFixed(1).replace('.0', '')} MB`;
}

/**
 * Opens a folder as a source, without `.git` and `node_modules`. Links are listed but not followed (D6). Throws
 * OperatorError if there is no such folder.
 */
export async function openFolderSource({ address, limits }: OpenSource): Promise<SourceSnapshot> {
  if (address.kind !== 'folder') throw new Error('this source is no folder');
  const root = address.path;
  if (lstatSync(root, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new OperatorError(`${root} is no folder.`);
  const entries: SourceEntry[] = [];
  const pace = createYieldToEventLoop();
  const enter = async (folder: string, way: string, depth: number): Promise<void> => {
    await pace();
    for (const entry of entriesOf(folder)) {
      if (entries.length > limits.entries)
        throw new OperatorError(`${root} holds more than ${limits.entries} files.`);
      const decoded = decodeText(entry.name, false);
      const name = decoded ?? entry.name.toString('latin1');
      if (name === '.git' || name === 'node_modules') continue;
      const path = way + name;
      const problem = decoded === undefined ? 'its name is not UTF-8' : pathProblem(path);
      if (entry.isDirectory() && problem === undefined && depth < 16)
        await enter(join(folder, name), `${path}/`, depth + 1);
      else if (entry.isFile() && problem === undefined) {
        const { size, mode } = lstatSync(join(folder, name));
        entries.push({ path, kind: 'file', size, executable: (mode & 0o100) !== 0, id: path });
      } else entries.push({ path, kind: 'link', size: 0, executable: false, id: path, problem });
    }
  };
  await enter(root, '', 0);
  return {
    address,
    entries: entries.sort((a, b) => (a.path < b.path ? -1 : 1)),
    read: async (files) => files.map(({ id }) => readPlain(join(root, id), limits.fileBytes)),
    close: () => undefined,
  };
}

function entriesOf(folder: string): readonly Dirent<Buffer>[] {
  try {
    return readdirSync(folder, { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new OperatorError(`${folder} can't be read: ${error.message}`, { cause: error });
  }
}

function readPlain(path: string, limit: number): Buffer {
  try {
    // If the file was replaced by a pipe meanwhile, this must not block.
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(file);
      if (!stats.isFile()) throw new OperatorError(`${path} is no plain file.`);
      const read = readBytes(file, limit);
      if (!read.ok || read.bytes.length !== stats.size)
        throw new OperatorError(`${path} is being written; try again.`);
      return read.bytes;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new OperatorError(`${path} can't be read: ${error.message}`, { cause: error });
  }
}

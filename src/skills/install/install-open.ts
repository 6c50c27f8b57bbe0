import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  type Dirent,
} from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../core/errors.ts';
import { createYieldToEventLoop } from '../../lib/async/mutex.ts';
import { decodeText } from '../../lib/text/text.ts';
import { openGitSource } from './git-source.ts';
import { pathProblem, type OpenSource, type SourceSnapshot, type SourceEntry } from './install-source.ts';

/** Opens a source as it is now, whatever its kind (D6). Throws OperatorError where it can't be had. */
export function openSource(options: OpenSource): Promise<SourceSnapshot> {
  return options.address.kind === 'git' ? openGitSource(options) : openFolderSource(options);
}

/** A plain folder as a source: what lies in it now, without `.git` and `node_modules`; links are seen, never followed (D6). Throws OperatorError where there is none. */
async function openFolderSource({ address, limits }: OpenSource): Promise<SourceSnapshot> {
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
      const known = problem === undefined ? {} : { problem };
      if (entry.isDirectory() && problem === undefined && depth < 16)
        await enter(join(folder, name), `${path}/`, depth + 1);
      else if (entry.isFile() && problem === undefined) {
        const { size, mode } = lstatSync(join(folder, name));
        entries.push({ path, kind: 'file', size, executable: (mode & 0o100) !== 0, id: path });
      } else entries.push({ path, kind: 'link', size: 0, executable: false, id: path, ...known });
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
    // Non-blocking, so that what became a pipe cannot hold anything up.
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(file);
      if (!stats.isFile()) throw new OperatorError(`${path} is no plain file.`);
      const bytes = Buffer.alloc(Math.min(stats.size, limit) + 1);
      let size = 0;
      for (let read = -1; read !== 0 && size < bytes.length; size += read) {
        read = readSync(file, bytes, size, bytes.length - size, null);
      }
      if (size > stats.size || size > limit) throw new OperatorError(`${path} is being written; try again.`);
      return bytes.subarray(0, size);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new OperatorError(`${path} can't be read: ${error.message}`, { cause: error });
  }
}

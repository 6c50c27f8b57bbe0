import { rmSync } from 'node:fs';
import { OperatorError } from '../../core/errors.ts';
import { decodeText } from '../../lib/text/text.ts';
import { runGit, type GitRequest } from './git-process.ts';
import {
  openFolderSource,
  sizeText,
  pathProblem,
  type OpenSource,
  type SourceEntry,
  type SourceSnapshot,
} from './install-source.ts';

/** Opens a source of any kind as it is now (D6). Throws OperatorError if it can't be fetched or read. */
export function openSource(options: OpenSource): Promise<SourceSnapshot> {
  return options.address.kind === 'git' ? openGitSource(options) : openFolderSource(options);
}

/**
 * Fetches one commit into the quarantine and reads it from git's store. It never checks files out, so no filter, hook,
 * link or name has an effect (D6). Throws OperatorError.
 */
async function openGitSource(options: OpenSource): Promise<SourceSnapshot> {
  const { address, ref, quarantine, limits, progress } = options;
  if (address.kind !== 'git') throw new Error('this source is no repository');
  const git = createGit(options, address.url);
  const close = (): void => rmSync(quarantine, { recursive: true, force: true });

  try {
    progress(`fetching ${address.url}`);
    await git(['init', '--bare', '--quiet', '--template=', quarantine]);
    const at = [`--git-dir=${quarantine}`];
    await git(
      [
        ...at,
        'fetch',
        '--depth=1',
        '--no-tags',
        '--no-recurse-submodules',
        '--no-auto-maintenance',
        '--progress',
        '--',
        address.url,
        ref ?? 'HEAD',
      ],
      { transport: address.transport },
    );
    const commit = (await git([...at, 'rev-parse', '--verify', 'FETCH_HEAD^{commit}'])).toString().trim();
    const listing = await git([...at, 'ls-tree', '-r', '-z', '-l', '--full-tree', commit], {
      outputLimit: limits.entries * 200,
    });
    const entries = entriesOf(listing);
    if (entries.length > limits.entries)
      throw new OperatorError(`${address.url} holds more than ${limits.entries} files.`);
    return {
      address,
      commit,
      entries,
      close,
      async read(files) {
        const bytes = files.reduce((sum, { size }) => sum + size, 0);
        const output = await git([...at, 'cat-file', '--batch'], {
          input: files.map(({ id }) => `${id}\n`).join(''),
          outputLimit: bytes + files.length * 200,
        });
        return blobsOf(output, files);
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}

type Git = (args: readonly string[], more?: Partial<GitRequest>) => Promise<Buffer>;

/** Makes the function that runs git. It throws OperatorError, also if all its runs together take too long. */
function createGit({ ref, limits, signal, progress, env }: OpenSource, url: string): Git {
  const outOfTime = AbortSignal.timeout(limits.timeMs);
  return async (args: readonly string[], more: Partial<GitRequest> = {}): Promise<Buffer> => {
    const both = AbortSignal.any([signal, outOfTime]);
    const outcome = await runGit({
      args,
      fileLimit: limits.packBytes,
      signal: both,
      env,
      progress,
      ...more,
    }).catch((error: unknown) => {
      if (outOfTime.aborted && !signal.aborted)
        throw new OperatorError(`${url} did not give its files within ${limits.timeMs / 1_000} s.`);
      throw error;
    });
    if (outcome.status === 'done') return outcome.output;
    if (outcome.status === 'too much output')
      throw new OperatorError(`${url} holds more than ${limits.entries} files.`);
    const tooLarge = /File too large/.test(outcome.message);
    throw new OperatorError(
      tooLarge
        ? `${url} is larger than ${sizeText(limits.packBytes)}.`
        : `${url} can't be fetched: ${outcome.message}.${hint(outcome.message, ref)}`,
    );
  };
}

function hint(message: string, ref: string | undefined): string {
  if (ref !== undefined && /couldn't find remote ref|not our ref|unadvertised object/.test(message))
    return ` Is there a branch, tag or commit ${ref}?`;
  if (/could not read Username|Authentication failed/.test(message))
    return ' It needs a login, or is not there: use ssh, or ~/.netrc for https.';
  if (/redirect|error: 30\d/.test(message)) return ' It has moved: use its new address.';
  return '';
}

/** Parses `ls-tree -z -l`, which prints `mode type id size TAB path NUL`. Names may be any bytes. */
function entriesOf(listing: Buffer): readonly SourceEntry[] {
  const entries: SourceEntry[] = [];
  for (let start = 0; start < listing.length;) {
    const end = listing.indexOf(0, start);
    const line = listing.subarray(start, end === -1 ? listing.length : end);
    start = end === -1 ? listing.length : end + 1;
    const tab = line.indexOf(9);
    const [mode = '', type = '', id = '', size = ''] = line.subarray(0, tab).toString('latin1').split(/ +/);
    const name = line.subarray(tab + 1);
    const decoded = decodeText(name, false);
    const path = decoded ?? name.toString('latin1');
    const problem = decoded === undefined ? 'its name is not UTF-8' : pathProblem(path);
    entries.push({
      path,
      kind: type === 'commit' ? 'submodule' : mode === '120000' ? 'link' : 'file',
      size: Number(size) || 0,
      executable: mode === '100755',
      id,
      problem,
    });
  }
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Parses `cat-file --batch`, which prints `id blob size LF bytes LF` for each file. */
function blobsOf(output: Buffer, files: readonly SourceEntry[]): readonly Buffer[] {
  let start = 0;
  return files.map(({ id, size, path }) => {
    const end = output.indexOf(10, start);
    const head = output.subarray(start, end).toString('latin1');
    if (head !== `${id} blob ${size}`) throw new OperatorError(`${path} can't be read: ${head}`);
    start = end + 1 + size + 1;
    return Buffer.from(output.subarray(end + 1, end + 1 + size));
  });
}

import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { findProgram } from '../inside-sandbox.ts';
import { pythonPackageOf } from './debian-packages.ts';
import type { Sandbox, SandboxOutcome, SandboxPackages, SandboxRequest } from '../sandbox.ts';
import { hasCode, ifAbsent } from '../../lib/has-code.ts';

/** Matches a name with extras and version as uv reads it, but neither URL nor path. */
const requirement = /^[A-Za-z0-9][\w.,[\]=<>~!@+-]*$/;

const namesPackage: ReadonlySet<string> = new Set(['--from', '--with']);

const saysNothing: ReadonlySet<string> = new Set(['-q', '--quiet', '--offline', '--isolated']);

/** Longer texts are not commands. */
const mostWords = 20;

export type PackagedCommand = Readonly<{
  sandbox: Sandbox;
  /** A hash of the skill's files. Only equal content of one skill shares packages. */
  content: string;
  skillDirectory: string;
  scratch: string;
  fetch: readonly [program: string, ...rest: string[]];
  /** PyPI packages that a Python script lists. */
  lists: readonly string[];
  signal: AbortSignal;
  onFetch(): void;
}>;

export type PackagedOutcome =
  | Readonly<{
      ok: true;
      request: SandboxPackages;
      env: Readonly<Record<string, string>>;
      wrap(command: SandboxRequest['argv']): SandboxRequest['argv'];
    }>
  | Readonly<{ ok: false; status: 'absent'; /** Says what to install. */ message: string }>
  | Readonly<{ ok: false; status: 'failed'; outcome: SandboxOutcome }>;

export type ScriptPackages = (command: PackagedCommand) => Promise<PackagedOutcome>;

/** Name of uv's cache in a scratch folder. Its path must not change. */
const cacheName = '.uv';
const fetchLimitMs = 600_000;
const keptMs = 30 * 86_400_000;

/**
 * Fetches Python packages of scripts by uv (R7): once for each content of a skill, only from `hosts`, and without the
 * skill's environment or folders. Each command gets a copy in scratch.
 */
export function createScriptPackages(options: {
  folder: string;
  /** Host patterns from `[sandbox] package_hosts`, from which packages may come. */
  hosts(): readonly string[];
  /** Whether the sandbox's own Python has a package. */
  imports(name: string): boolean;
  searchPath?: string;
}): ScriptPackages {
  const { folder, hosts, imports, searchPath = uvPlaces() } = options;
  const underWay = new Map<string, Promise<SandboxOutcome>>();

  return async (command) => {
    const programs = ['uv', 'uvx'].flatMap((name) => findProgram(name, searchPath) ?? []);
    const { sandbox, content, fetch, lists, scratch, signal, onFetch } = command;
    if (programs.length < 2) {
      const lacking = lists.filter((name) => !imports(name));
      return lists.length > 0 && lacking.length === 0
        ? { ok: true, request: {}, env: {}, wrap: byPython }
        : { ok: false, status: 'absent', message: `${howToInstall}${orPackages(lacking)}` };
    }
    const key = createHash('sha256')
      .update(JSON.stringify([content, fetch]))
      .digest('hex');
    const kept = path.join(path.resolve(folder), key);
    const cache = path.join(kept, cacheName);
    while (!(await isFolder(cache))) {
      onFetch();
      const outcome = await fetchOnce(key, () => fetchInto(kept, command, { programs, hosts: hosts() }));
      // If the first caller was cancelled, the others must not fail.
      const forOthers = outcome.status === 'stopped' && outcome.reason === 'cancelled' && !signal.aborted;
      if ((outcome.status !== 'exited' || outcome.exitCode !== 0) && !forOthers)
        return { ok: false, status: 'failed', outcome };
    }
    await utimes(kept, new Date(), new Date());
    const copyOf = sandbox.seen('packages', cache);
    return {
      ok: true,
      request: { packages: cache, programs },
      env: environment(sandbox.seen('scratch', scratch)),
      wrap: (argv) => ['sh', '-c', withCopy, 'sh', copyOf, ...argv],
    };
  };

  function fetchOnce(key: string, begin: () => Promise<SandboxOutcome>): Promise<SandboxOutcome> {
    const waiting = underWay.get(key);
    if (waiting !== undefined) return waiting;
    const begun = begin().finally(() => underWay.delete(key));
    underWay.set(key, begun);
    return begun;
  }
}

/** Fetches packages into a folder of its own, which gets the name `kept` once it is whole. */
async function fetchInto(
  kept: string,
  { sandbox, skillDirectory, fetch, signal }: PackagedCommand,
  { programs, hosts }: Readonly<{ programs: readonly string[]; hosts: readonly string[] }>,
): Promise<SandboxOutcome> {
  const folder = path.dirname(kept);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await sweep(folder);
  const part = `${kept}.${randomUUID()}`;
  await mkdir(path.join(part, cacheName), { recursive: true, mode: 0o700 });
  try {
    const outcome = await sandbox.run({
      argv: fetch,
      skillDirectory,
      scratch: part,
      programs,
      network: hosts,
      env: environment(sandbox.seen('scratch', part)),
      timeoutMs: fetchLimitMs,
      outputCap: 8_000,
      signal,
    });
    if (outcome.status === 'exited' && outcome.exitCode === 0) await moveTo(part, kept);
    return outcome;
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

const howToInstall =
  'it takes uv, which is not on this system: the operator installs it as https://docs.astral.sh/uv says, such as by "pipx install uv" or "curl -LsSf https://astral.sh/uv/install.sh | sh"';

function orPackages(lacking: readonly string[]): string {
  const known = lacking.map(pythonPackageOf);
  return known.length === 0 || known.includes(undefined)
    ? ''
    : `. Without uv it runs once the system has what it lists: apt-get install ${known.join(' ')}`;
}

/** Runs the script of a uv command by Python itself. */
function byPython(argv: SandboxRequest['argv']): SandboxRequest['argv'] {
  return ['python3', ...argv.slice(argv.indexOf('--script') + 1)];
}

/** Variables for uv. Neither host nor skill can steer it, and it uses the sandbox's Python. */
function environment(scratch: string): Readonly<Record<string, string>> {
  return {
    UV_CACHE_DIR: `${scratch}/${cacheName}`,
    UV_NO_CONFIG: '1',
    UV_NO_PROGRESS: '1',
    UV_PYTHON_DOWNLOADS: 'never',
    UV_PYTHON_PREFERENCE: 'only-system',
  };
}

/** Runs a command with a copy of the cache, because uv always writes to it. */
const withCopy = `
kept=$1
shift
rm -rf "$UV_CACHE_DIR"
cp -a "$kept" "$UV_CACHE_DIR" || exit 125
"$@"
code=$?
rm -rf "$UV_CACHE_DIR"
exit $code
`;

export function uvPlaces(): string {
  const own = ['.local/bin', '.cargo/bin'].map((folder) => path.join(homedir(), folder));
  return [process.env['PATH'] ?? '', ...own, '/usr/local/bin', '/usr/bin'].join(':');
}

async function isFolder(place: string): Promise<boolean> {
  return (await stat(place).catch(ifAbsent))?.isDirectory() === true;
}

/** Renames a fetched folder. If another process fetched the same, that one is used. */
async function moveTo(part: string, kept: string): Promise<void> {
  try {
    await rename(part, kept);
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
  }
}

async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const place = path.join(folder, name);
    // Another fetch may have ended meanwhile.
    const stats = await stat(place).catch(ifAbsent);
    const limit = name.includes('.') ? 2 * fetchLimitMs : keptMs;
    if (stats !== undefined && Date.now() - stats.mtimeMs > limit)
      await rm(place, { recursive: true, force: true });
  }
}

/** A PyPI tool as a command calls it, with options and name: `--from`, `x`, `y`. */
type FetchedTool = readonly string[];

/** Tools that a command or instructions run by `uvx`, `uv tool run` or `uv run --with`, each once (R7). */
export function fetchedTools(text: string): readonly FetchedTool[] {
  const words = text.split(/[\s;&|()`'"]+/);
  const found = new Map<string, FetchedTool>();
  words.forEach((word, at) => {
    const byUv = word === 'uv' && words[at + 1] === 'tool' && words[at + 2] === 'run';
    const runs = word === 'uv' && words[at + 1] === 'run';
    const tool =
      word === 'uvx' || byUv
        ? toolAt(words, at + (byUv ? 3 : 1))
        : runs
          ? packagesAt(words, at + 2)
          : undefined;
    if (tool !== undefined) found.set(tool.join(' '), tool);
  });
  return [...found.values()];
}

/** What `uv run` names by `--with`, as `run --with x`. */
function packagesAt(words: readonly string[], from: number): FetchedTool | undefined {
  const named: string[] = [];
  for (let at = from; at < Math.min(words.length, from + mostWords); at++) {
    const [option = '', ...rest] = (words[at] ?? '').split('=');
    const value = (): string | undefined => (rest.length === 0 ? words[++at] : rest.join('='));
    if (option === '--with') {
      const given = value();
      if (given === undefined || !requirement.test(given)) return undefined;
      named.push('--with', given);
    } else if (uvRunOptions.withValue.has(option)) value();
    else if (!option.startsWith('-')) break;
    else if (!uvRunOptions.alone.has(option)) return undefined;
  }
  return named.length === 0 ? undefined : ['run', ...named];
}

/** Options of `uv run` that do not change what is fetched. Those of the second kind have a value. */
export const uvRunOptions: Readonly<Record<'alone' | 'withValue', ReadonlySet<string>>> = {
  alone: new Set(
    [
      '--script -s --no-config --no-project --quiet -q --verbose -v --offline --isolated --no-sync --frozen --locked --exact',
      '--no-cache -n --no-progress --no-env-file --no-dev --no-python-downloads --managed-python --no-managed-python --',
    ].flatMap((line) => line.split(' ')),
  ),
  withValue: new Set(['--python', '-p', '--color', '--cache-dir', '--link-mode']),
};

function toolAt(words: readonly string[], from: number): FetchedTool | undefined {
  const tool: string[] = [];
  for (let at = from; at < Math.min(words.length, from + mostWords); at++) {
    const word = words[at] ?? '';
    const [option = '', value] = word.split('=', 2);
    if (saysNothing.has(word)) continue;
    if (!word.startsWith('-')) return requirement.test(word) ? [...tool, word] : undefined;
    const given = value === undefined ? words[++at] : word.slice(option.length + 1);
    if (!namesPackage.has(option) || given === undefined || !requirement.test(given)) return undefined;
    tool.push(option, given);
  }
  return undefined;
}

/** The command that fetches tools. `--help` makes them do nothing else. */
export function fetchTools(tools: readonly FetchedTool[]): readonly [program: string, ...rest: string[]] {
  const each = tools.map(fetchTool);
  const [only] = each;
  if (only !== undefined && each.length === 1) return only;
  return ['sh', '-c', each.map((words) => words.map((word) => `'${word}'`).join(' ')).join(' && ')];
}

function fetchTool(tool: FetchedTool): readonly [program: string, ...rest: string[]] {
  const [first, ...named] = tool;
  return first === 'run'
    ? ['uv', 'run', '--quiet', '--no-project', ...named, 'python', '-c', 'pass']
    : ['uvx', '--quiet', ...tool, '--help'];
}

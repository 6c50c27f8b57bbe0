import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { findProgram } from '../inside-sandbox.ts';
import type { Sandbox, SandboxOutcome, SandboxRequest } from '../sandbox.ts';

/** A name with extras and a version, as uv reads it: no address, no path. */
const requirement = /^[A-Za-z0-9][\w.,[\]=<>~!@+-]*$/;

const namesPackage: ReadonlySet<string> = new Set(['--from', '--with']);

const saysNothing: ReadonlySet<string> = new Set(['-q', '--quiet', '--offline', '--isolated']);

/** More options than that are no command. */
const mostWords = 20;

/** A command whose packages come from an index. */
export type PackagedCommand = Readonly<{
  /** Where it runs, and its packages are fetched. */
  sandbox: Sandbox;
  /** Only commands with the same content of the same skill share packages. */
  content: string;
  skillDirectory: string;
  scratch: string;
  fetch: readonly [program: string, ...rest: string[]];
  signal: AbortSignal;
  onFetch(): void;
}>;

export type PackagedOutcome =
  | Readonly<{
      ok: true;
      request: Pick<SandboxRequest, 'packages' | 'programs'>;
      env: Readonly<Record<string, string>>;
      /** The command to run instead, with its packages. */
      wrap(command: SandboxRequest['argv']): SandboxRequest['argv'];
    }>
  | Readonly<{ ok: false; status: 'absent'; /** What to install. */ message: string }>
  | Readonly<{ ok: false; status: 'failed'; outcome: SandboxOutcome }>;

/** Fetches the packages of a command, if they are missing. */
export type ScriptPackages = (command: PackagedCommand) => Promise<PackagedOutcome>;

/** uv's cache within a scratch folder. Its content knows its own path, so that is always the same. */
const cacheName = '.uv';
const fetchLimitMs = 600_000;
/** Packages unused for so long are removed when others are fetched. */
const keptMs = 30 * 86_400_000;

/**
 * Python packages of scripts, by uv (R7). A command without the skill's environment, scratch or conversation fetches them
 * once for this content of this skill, from `hosts` only. Each command works on its own copy in its scratch folder.
 */
export function createScriptPackages(options: {
  /** Of this bot: `<data_dir>/uv`. */
  folder: string;
  /** Host patterns: `[sandbox] package_hosts`. */
  hosts(): readonly string[];
  searchPath?: string;
}): ScriptPackages {
  const { folder, hosts, searchPath = uvPlaces() } = options;
  const underWay = new Map<string, Promise<SandboxOutcome>>();

  return async (command) => {
    const programs = ['uv', 'uvx'].flatMap((name) => findProgram(name, searchPath) ?? []);
    if (programs.length < 2) return { ok: false, status: 'absent', message: howToInstall };
    const { sandbox, content, fetch, scratch, signal, onFetch } = command;
    const key = createHash('sha256')
      .update(JSON.stringify([content, fetch]))
      .digest('hex');
    const kept = path.join(path.resolve(folder), key);
    const cache = path.join(kept, cacheName);
    while (!(await isFolder(cache))) {
      onFetch();
      const outcome = await fetchOnce(key, () => fetchInto(kept, command, programs));
      // A stop of the one who began it is no reason for others.
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

  async function fetchInto(
    kept: string,
    { sandbox, skillDirectory, fetch, signal }: PackagedCommand,
    programs: readonly string[],
  ): Promise<SandboxOutcome> {
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
        network: hosts(),
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
}

const howToInstall =
  'it takes uv, which is not on this system: the operator installs it as https://docs.astral.sh/uv says, such as by "pipx install uv" or "curl -LsSf https://astral.sh/uv/install.sh | sh"';

/** No settings of the host or skill steer uv, and it uses the sandbox's Python. */
function environment(scratch: string): Readonly<Record<string, string>> {
  return {
    UV_CACHE_DIR: `${scratch}/${cacheName}`,
    UV_NO_CONFIG: '1',
    UV_NO_PROGRESS: '1',
    UV_PYTHON_DOWNLOADS: 'never',
    UV_PYTHON_PREFERENCE: 'only-system',
  };
}

/** uv writes to its cache even if it has all that it needs. */
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

/** Search path for the host's uv: the bot's own, and where uv's installers put it. */
export function uvPlaces(): string {
  const own = ['.local/bin', '.cargo/bin'].map((folder) => path.join(homedir(), folder));
  return [process.env['PATH'] ?? '', ...own, '/usr/local/bin', '/usr/bin'].join(':');
}

async function isFolder(place: string): Promise<boolean> {
  try {
    return (await stat(place)).isDirectory();
  } catch (error) {
    if (isCode(error, ['ENOENT'])) return false;
    throw error;
  }
}

/** Another process may have fetched the same meanwhile: then that is used. */
async function moveTo(part: string, kept: string): Promise<void> {
  try {
    await rename(part, kept);
  } catch (error) {
    if (!isCode(error, ['ENOTEMPTY', 'EEXIST'])) throw error;
  }
}

/** Removes what was not used for long, and what a dead process was fetching. */
async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const place = path.join(folder, name);
    const { mtimeMs } = await stat(place);
    const limit = name.includes('.') ? 2 * fetchLimitMs : keptMs;
    if (Date.now() - mtimeMs > limit) await rm(place, { recursive: true, force: true });
  }
}

function isCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** A tool of PyPI as a command calls it, options and name: `--from`, `x`, `y`. */
type FetchedTool = readonly string[];

/** The tools that a command, or a skill's instructions, call by `uvx` or `uv tool run`, each once (R7). */
export function fetchedTools(text: string): readonly FetchedTool[] {
  const words = text.split(/[\s;&|()`'"]+/);
  const found = new Map<string, FetchedTool>();
  words.forEach((word, at) => {
    const byUv = word === 'uv' && words[at + 1] === 'tool' && words[at + 2] === 'run';
    const tool = word === 'uvx' || byUv ? toolAt(words, at + (byUv ? 3 : 1)) : undefined;
    if (tool !== undefined) found.set(tool.join(' '), tool);
  });
  return [...found.values()];
}

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

/** The command that fetches tools: `--help` does nothing else. */
export function fetchTools(tools: readonly FetchedTool[]): readonly [program: string, ...rest: string[]] {
  const [only] = tools;
  if (only !== undefined && tools.length === 1) return ['uvx', '--quiet', ...only, '--help'];
  const each = tools.map((tool) => `uvx --quiet ${tool.map((word) => `'${word}'`).join(' ')} --help`);
  return ['sh', '-c', each.join(' && ')];
}

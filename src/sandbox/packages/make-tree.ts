import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { OperatorError } from '../../core/errors.ts';
import type { RootRecipe } from './root-recipe.ts';
import type { RootTool } from './root-tool.ts';

/** Lines of a tool's last words that are kept for its error. */
const keptLines = 200;
const shownLines = 15;

/**
 * Has a tool make a tree and unpacks it into `target`, an empty folder, everything owned by who runs this and nothing
 * setuid; no devices. `work` is the tool's own folder. Throws OperatorError with the reason and the fix where it fails.
 */
export async function makeTree(options: {
  recipe: RootRecipe;
  tool: RootTool;
  work: string;
  target: string;
  onLine(line: string): void;
  signal: AbortSignal;
}): Promise<void> {
  const { recipe, tool, work, target, onLine, signal } = options;
  const [program, ...args] = tool.command(recipe, work);
  const env = environment(work);
  const maker = spawn(program, args, {
    cwd: '/',
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    signal,
    // `unshare` waits for its child through any other one; without it the tool tidies up.
    killSignal: process.getuid?.() === 0 ? 'SIGKILL' : 'SIGTERM',
  });
  const unpacker = spawn('sh', ['-c', 'umask 022; exec tar "$@"', 'sh', ...unpackOptions(target)], {
    env,
    stdio: ['pipe', 'ignore', 'pipe'],
    signal,
  });
  const [said, unpackerSaid] = [follow(maker.stderr, onLine), follow(unpacker.stderr, () => undefined)];
  // A tool that ends before it has read this says itself why.
  maker.stdin.on('error', () => undefined).end(`${recipe.sources.join('\n')}\n`);
  const [made, unpacked] = await Promise.allSettled([
    ended(maker),
    ended(unpacker),
    pipeline(maker.stdout, unpacker.stdin),
  ]);
  signal.throwIfAborted();
  if (made.status === 'rejected') throw made.reason;
  if (made.value !== 0) throw new OperatorError(explain(said, recipe, tool));
  if (unpacked.status === 'rejected') throw unpacked.reason;
  if (unpacked.value !== 0)
    throw new OperatorError(`the tree could not be unpacked:\n${lastOf(unpackerSaid)}`);
}

/** The last lines of a stream; each is told when it comes. */
function follow(input: Readable, onLine: (line: string) => void): readonly string[] {
  const said: string[] = [];
  createInterface({ input }).on('line', (line) => {
    said.push(line);
    if (said.length > keptLines) said.shift();
    onLine(line);
  });
  return said;
}

/** Rejects where the program could not be started; a number that is not 0 where it failed. */
async function ended(child: ChildProcess): Promise<number> {
  const closed: readonly unknown[] = await once(child, 'close');
  return typeof closed[0] === 'number' ? closed[0] : 1;
}

function environment(work: string): Readonly<Record<string, string>> {
  const proxies = ['http_proxy', 'https_proxy', 'no_proxy'].flatMap((name): [string, string][] => {
    const value = process.env[name] ?? process.env[name.toUpperCase()];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin`,
    LC_ALL: 'C.UTF-8',
    DEBIAN_FRONTEND: 'noninteractive',
    // As an ordinary user the tool works under other ids, which can't see into the bot's folders.
    ...(process.getuid?.() === 0 ? { TMPDIR: work } : {}),
    ...Object.fromEntries(proxies),
  };
}

/** What nobody needs in a tree that is only read from. */
const leftBehind = ['dev', 'proc', 'sys', 'run', 'tmp', 'var/cache', 'var/lib/apt', 'var/log', 'boot'];

function unpackOptions(target: string): readonly string[] {
  return [
    '--extract',
    '--file=-',
    `--directory=${target}`,
    '--no-same-owner',
    '--no-same-permissions',
    ...leftBehind.map((name) => `--exclude=./${name}/*`),
  ];
}

function explain(said: readonly string[], { suite, asked }: RootRecipe, { name: tool }: RootTool): string {
  const all = said.join('\n');
  const [, unknown] =
    /E: (?:Unable to locate package |Package '?|Couldn't find any package by (?:glob|regex) ')([a-z0-9][a-z0-9+.-]+)/.exec(
      all,
    ) ?? [];
  const skills = asked.find(({ name }) => name === unknown)?.skills ?? [];
  if (unknown !== undefined && skills.length > 0) {
    const off = skills.map((skill) => `[skills.${skill}] enabled = false`).join(', ');
    return `there is no package ${unknown} in ${suite}, which ${skills.join(' and ')} ask${skills.length === 1 ? 's' : ''} for: correct \`packages\` in that SKILL.md, or switch the skill off (${off}), and build again`;
  }
  if (/Temporary failure resolving|Could not resolve|Could not connect|Unable to connect/.test(all))
    return `the archive could not be reached; the sources are those of /etc/apt. ${tool} said:\n${lastOf(said)}`;
  if (/unshare: .*(Operation not permitted|failed)/.test(all))
    return `${tool} may not make namespaces here (a container without CAP_SYS_ADMIN?): build where it may, and copy the folder rootfs of the data directory here. It said:\n${lastOf(said)}`;
  return `${tool} failed:\n${lastOf(said)}`;
}

function lastOf(said: readonly string[]): string {
  return said.slice(-shownLines).join('\n');
}

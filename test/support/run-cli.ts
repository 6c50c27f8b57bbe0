import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, type TestContext } from 'node:test';
import { childEnv } from './child-env.ts';
import { cliPath } from './cli-path.ts';
import type { CommandLine } from './command-host.ts';

/** A home and working directory of its own for the command line. */
export type CliHome = Readonly<{
  folder: string;
  /** Runs `skillet ARGS` to its end, with `input` on standard input. One after another, in a process that has the program loaded. */
  run(args: readonly string[], options?: CliOptions): Promise<CliRun>;
  /** The same in a process of its own: for how one begins and ends, signals and crashes; `cli` is another version of the program. */
  runAlone(args: readonly string[], options?: CliOptions & Readonly<{ cli?: string }>): Promise<CliRun>;
  write(name: string, content: string): Promise<string>;
}>;

export type CliOptions = Readonly<{ input?: string; env?: Readonly<Record<string, string>> }>;
export type CliRun = Readonly<{ code: number | null; stdout: string; stderr: string }>;

export async function openCliHome(t: TestContext): Promise<CliHome> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-cli-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const lineOf = (args: readonly string[], { input = '', env = {} }: CliOptions = {}): CommandLine => ({
    args,
    cwd: folder,
    env: { ...childEnv(folder), ...env },
    input,
  });
  return {
    folder,
    run: (args, options) => hosted(lineOf(args, options)),
    runAlone: (args, options) => alone(lineOf(args, options), options?.cli),
    async write(name, content) {
      const file = path.join(folder, name);
      await writeFile(file, content, { mode: 0o600 });
      return file;
    },
  };
}

async function alone({ args, cwd, env, input }: CommandLine, cli: string = cliPath): Promise<CliRun> {
  const child = spawn(process.execPath, [cli, ...args], { cwd, env });
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ]);
  return { code, stdout, stderr };
}

/** The host of this test process, from its first command on, and the end of its last one. */
const host: { child?: ChildProcess; last: Promise<unknown> } = { last: Promise.resolve() };

function hosted(line: CommandLine): Promise<CliRun> {
  const ran = host.last.then(() => carryOut(line));
  host.last = ran.catch(() => undefined);
  return ran;
}

async function carryOut(line: CommandLine): Promise<CliRun> {
  const child = (host.child ??= fork(path.join(import.meta.dirname, 'command-host.ts'), {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  }));
  hold(child);
  child.send(line);
  const gone = new AbortController();
  const [ran] = (await Promise.race([
    once(child, 'message', { signal: gone.signal }),
    once(child, 'exit', { signal: gone.signal }).then(([code, signal]) => {
      delete host.child;
      throw new Error(`skillet ${line.args.join(' ')}: the process ended (${code ?? signal})`);
    }),
  ]).finally(() => gone.abort())) as [CliRun];
  // The tests end when nothing is left to wait for.
  child.unref();
  child.channel?.unref();
  return ran;
}

function hold(child: ChildProcess): void {
  child.ref();
  child.channel?.ref();
}

after(async () => {
  const { child } = host;
  if (child === undefined) return;
  hold(child);
  child.disconnect();
  await once(child, 'exit');
});

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { childEnv } from '../child-env.ts';
import { cliPath } from '../cli-path.ts';

export type Exit = Readonly<{ code: number | null; signal: NodeJS.Signals | null }>;

/** `skillet start` in a process of its own. */
export type BotProcess = Readonly<{
  pid: number;
  /** Resolves with true when it says that it is ready, with false when it ended before. */
  ready: Promise<boolean>;
  exited: Promise<Exit>;
  ended(): boolean;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM, once it is ready; resolves with how it ended. */
  stop(): Promise<Exit>;
  signal(name: NodeJS.Signals): void;
  /** What it logged with level `error`, and what was no log line at all. */
  errors(): readonly string[];
  /** Log lines about a queue that changed hands, by its old or its new holder. */
  takeovers(): readonly string[];
  /** How many messages it sent again, because a death left open whether they had arrived (Q6). */
  resent(): number;
  /** The first log line, past or to come, that holds this text; nothing when it ended without. */
  logged(text: string): Promise<string | undefined>;
}>;

/** Files under test/support/crash to be loaded before the bot, with what they read from the environment. */
export type Preload = Readonly<{
  file: 'kill-at.ts' | 'kill-at-thread.ts' | 'shift-clock.ts';
  env: Readonly<Record<string, string>>;
}>;

/** Needs `[log] level` at `info`, or `ready` comes only with the end. */
export function startBotProcess(options: {
  folder: string;
  config: string;
  /** The program, by default that of this version. */
  cli?: string | undefined;
  preload?: Preload;
  /** For Node itself. */
  flags?: readonly string[];
  /** A command that runs it elsewhere, in the same process. */
  within?: readonly string[];
}): BotProcess {
  const { folder, config, cli = cliPath, preload, flags = [], within = [] } = options;
  const before = preload === undefined ? [] : ['--import', `${import.meta.dirname}/${preload.file}`];
  const node = [process.execPath, ...flags, ...before, cli, 'start', '--config', config];
  const [program = process.execPath, ...args] = [...within, ...node];
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...childEnv(folder), ...preload?.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of [...listeners]) listener();
  };
  createInterface(child.stderr).on('line', (line) => {
    lines.push(line);
    tell();
  });
  let over = false;
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => {
      over = true;
      tell();
      resolve({ code, signal });
    });
  });
  const logged = (text: string): Promise<string | undefined> =>
    new Promise((resolve) => {
      const look = (): void => {
        const line = lines.find((each) => each.includes(text));
        if (line === undefined && !over) return;
        listeners.delete(look);
        resolve(line);
      };
      listeners.add(look);
      look();
    });
  const ready = logged('"Skillet is ready"').then((line) => line !== undefined);
  return {
    pid: child.pid ?? 0,
    ready,
    exited,
    ended: () => over,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async stop() {
      await ready;
      child.kill('SIGTERM');
      return exited;
    },
    signal: (name) => void child.kill(name),
    errors: () =>
      lines.filter(
        (line) => !line.startsWith('{') || /"level":[56]0|file that a person sent could/.test(line),
      ),
    takeovers: () => lines.filter((line) => /a queue was lost|another process is gone/.test(line)),
    resent: () => lines.filter((line) => line.includes('outcome is unknown: sent again')).length,
    logged,
  };
}

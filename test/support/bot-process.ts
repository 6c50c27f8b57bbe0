import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { childEnv } from './child-env.ts';
import { cliPath } from './cli-path.ts';

/** One line of the bot's log, as JSON. */
export type LogLine = Readonly<Record<string, unknown> & { level: number; msg: string }>;

/** `skillet start` as a process of its own, whose config sets `[server] listen` and `[log] format = "json"`. */
export type BotProcess = Readonly<{
  child: ChildProcess;
  pid: number;
  /** Every line of the log so far. */
  lines: readonly LogLine[];
  /** The first line, past or to come, that matches; rejects when the process ends without it. */
  line(matches: (line: LogLine) => boolean): Promise<LogLine>;
  /** What its server answers. */
  get(path: string): Promise<Readonly<{ status: number; text: string }>>;
  /** Sends SIGTERM and gives the exit code and signal. */
  stop(): Promise<readonly unknown[]>;
}>;

/** `cli`: the program, by default that of this version. */
export function startBotProcess(t: TestContext, folder: string, cli = cliPath): BotProcess {
  const child = spawn(process.execPath, [cli, 'start'], {
    cwd: folder,
    env: childEnv(folder),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  const lines: LogLine[] = [];
  const other: string[] = [];
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
    // A test that waits in vain says nothing of the bot itself. The types lack "passed".
    if (t.signal.aborted || ('passed' in t && t.passed === false))
      console.error(
        [`bot ${child.pid}`, ...other, ...lines.slice(-60).map((line) => JSON.stringify(line))].join('\n'),
      );
  });
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (text) => {
      if (text.startsWith('{')) lines.push(JSON.parse(text) as LogLine);
      else other.push(text);
      for (const look of waiting) look();
    });
  }

  const line: BotProcess['line'] = (matches) =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = lines.find(matches);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
      void ended.then(() =>
        reject(new Error(`the bot ended: ${[...other, JSON.stringify(lines)].join('\n')}`)),
      );
    });

  const get: BotProcess['get'] = async (path) => {
    const { url } = await line(({ msg }) => msg === 'serving health and metrics');
    const answer = await fetch(`${String(url)}${path}`);
    return { status: answer.status, text: await answer.text() };
  };

  return {
    child,
    pid: child.pid ?? 0,
    lines,
    line,
    get,
    async stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

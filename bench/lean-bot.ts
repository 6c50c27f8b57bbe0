import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { LeanPlatform } from './lean-platform.ts';

/** The bot in a process of its own on a lean platform. */
export type LeanBot = Readonly<{
  pid: number;
  /** Processor time so far, milliseconds. Linux only. */
  cpuMs(): Promise<number>;
  /** `SIGTERM` and waiting, or `SIGKILL` at once. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}>;

const root = path.join(import.meta.dirname, '..');

/** Starts the bot; `store` is the url of its store, `prepare` is called with its folder before. */
export async function startLeanBot(
  platform: LeanPlatform,
  options: Readonly<{ store?: string; concurrency: number; prepare?(home: string): Promise<void> }>,
): Promise<LeanBot> {
  const home = await mkdtemp(path.join(tmpdir(), 'skillet-lean-'));
  await mkdir(path.join(home, 'data'), { mode: 0o700 });
  const config = [
    `[agent]\nconcurrency = ${options.concurrency}`,
    `[telegram]\ntoken = "${platform.token}"\napi_root = "${platform.url}"\npaced = false`,

    '[access]\ndm = "open"',
    `[models.default]\nmodel = "lean"\nbase_url = "${platform.url}"\napi_key = "lean-key-1234"`,
    ...(options.store === undefined ? [] : [`[store]\nurl = "${options.store}"`]),
  ].join('\n');
  const file = path.join(home, 'config.toml');
  await writeFile(file, config, { mode: 0o600 });
  await options.prepare?.(home);
  const child = spawn(
    process.execPath,
    ['--max-semi-space-size=2', path.join(root, 'bin/skillet.js'), 'start', '--config', file],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: process.env['PATH'], HOME: home } },
  );
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-4_000)));
  const gone = once(child, 'exit');
  await Promise.race([
    platform.polled,
    gone.then(() => {
      throw new Error(`the bot ended: ${errors}`);
    }),
  ]);
  return {
    pid: child.pid ?? 0,
    async cpuMs() {
      const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      // The kernel counts in hundredths of a second.
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
    async end(signal) {
      child.kill(signal);
      await gone;
      await rm(home, { recursive: true, force: true });
    },
  };
}

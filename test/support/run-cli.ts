import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { childEnv } from './child-env.ts';

/** A home and working directory of its own for the command line. */
export type CliHome = Readonly<{
  folder: string;
  /** Runs `skillet ARGS` to its end, with `input` on standard input. */
  run(
    args: readonly string[],
    options?: Readonly<{ input?: string; env?: Readonly<Record<string, string>> }>,
  ): Promise<CliRun>;
  write(name: string, content: string): Promise<string>;
}>;

export type CliRun = Readonly<{ code: number | null; stdout: string; stderr: string }>;

export const cliPath = path.join(import.meta.dirname, '../../bin/skillet.js');

export async function openCliHome(t: TestContext): Promise<CliHome> {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-cli-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return {
    folder,
    async run(args, { input = '', env = {} } = {}) {
      const child = spawn(process.execPath, [cliPath, ...args], {
        cwd: folder,
        env: { ...childEnv(folder), ...env },
      });
      child.stdin.end(input);
      const [stdout, stderr, code] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        new Promise<number | null>((resolve) => child.once('close', resolve)),
      ]);
      return { code, stdout, stderr };
    },
    async write(name, content) {
      const file = path.join(folder, name);
      await writeFile(file, content, { mode: 0o600 });
      return file;
    },
  };
}

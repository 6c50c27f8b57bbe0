import { execFile } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createBubblewrapSandbox, type BubblewrapOptions } from './bubblewrap.ts';

/** Whether bubblewrap works here, and what the operator does where it doesn't. */
export type BubblewrapProbe =
  | Readonly<{ ok: true; bwrap: string }>
  | Readonly<{ ok: false; /** One sentence, with the fix. */ why: string }>;

const install = 'apt-get install bubblewrap';

/** Finds bwrap on PATH and runs a program in the very sandbox that commands get: namespaces may be forbidden here. */
export async function probeBubblewrap(options: Omit<BubblewrapOptions, 'bwrap'>): Promise<BubblewrapProbe> {
  if (process.platform !== 'linux') return { ok: false, why: 'bubblewrap needs Linux' };
  const [bwrap, ...missing] = ['bwrap', 'mkfifo', 'du'].map(onPath);
  if (bwrap === undefined) return { ok: false, why: `bubblewrap is not installed: ${install}` };
  if (missing.includes(undefined))
    return { ok: false, why: 'mkfifo and du are needed: apt-get install coreutils' };
  const { stdout } = await promisify(execFile)(bwrap, ['--help']);
  if (!/--size\b/.test(stdout) || !/--disable-userns\b/.test(stdout))
    return { ok: false, why: 'bubblewrap is too old: version 0.8 or later is needed' };

  const sandbox = createBubblewrapSandbox({ ...options, bwrap });
  const scratch = mkdtempSync(path.join(tmpdir(), 'skillet-probe-'));
  try {
    const outcome = await sandbox.run({
      argv: ['sh', '-c', 'echo fine'],
      scratch,
      network: [],
      env: { TZ: 'UTC' },
      timeoutMs: 10_000,
      outputCap: 1_000,
      signal: new AbortController().signal,
    });
    if (outcome.status === 'exited' && outcome.stdout === 'fine\n') return { ok: true, bwrap };
    return { ok: false, why: explain(outcome.status === 'unavailable' ? outcome.message : outcome.stderr) };
  } catch (error) {
    return { ok: false, why: explain(error instanceof Error ? error.message : String(error)) };
  } finally {
    await sandbox.close();
    rmSync(scratch, { recursive: true });
  }
}

function explain(said: string): string {
  const fix = /namespace|uid map|RTM_NEW|pivot_root|not permitted|Permission denied/i.test(said)
    ? 'this system does not let it make namespaces: set the sysctls kernel.unprivileged_userns_clone = 1 and (Ubuntu) kernel.apparmor_restrict_unprivileged_userns = 0; in a container, let it have user namespaces'
    : 'it does not work here';
  return `bubblewrap is installed, but ${fix} (${said.trim().slice(0, 300)})`;
}

function onPath(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(':').filter((folder) => path.isAbsolute(folder));
  return folders.map((folder) => path.join(folder, program)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

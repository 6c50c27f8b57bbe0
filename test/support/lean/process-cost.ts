import { readdir, readFile } from 'node:fs/promises';

/** Processor time of a process so far, milliseconds; with its children, ended ones too, where `tree`. Linux only. */
export async function processorMs(pid: number, { tree = false } = {}): Promise<number> {
  const own = await readStat(pid);
  if (own === undefined) return 0;
  if (!tree) return own.ownMs;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const all = await Promise.all(pids.map(readStat));
  const children = all
    .filter((stat) => stat?.parent === pid)
    .reduce((sum, stat) => sum + (stat?.ownMs ?? 0), 0);
  return own.ownMs + own.endedMs + children;
}

/** Resident memory, MB; 0 when it is gone. Linux only. */
export async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
}

async function readStat(
  pid: number,
): Promise<Readonly<{ parent: number; ownMs: number; endedMs: number }> | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  // The kernel counts in hundredths of a second.
  const ms = (first: number): number => ((fields[first] ?? 0) + (fields[first + 1] ?? 0)) * 10;
  return { parent: fields[1] ?? 0, ownMs: ms(11), endedMs: ms(13) };
}

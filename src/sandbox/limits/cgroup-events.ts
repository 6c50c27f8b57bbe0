import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { StopReason } from '../sandbox.ts';

/** Which file of a control group tells how often it met a limit, in either version, and under which word. */
const counters = [
  {
    reason: 'memory',
    controller: 'memory',
    word: 'oom_kill',
    files: ['memory.events', 'memory.oom_control'],
  },
  { reason: 'processes', controller: 'pids', word: 'max', files: ['pids.events', 'pids.events'] },
] as const;

/**
 * Tells which limit the control group of a process has met since it began: what the kernel ends or refuses there, nobody
 * else hears of (T9). Nothing where it shares its group with this process, or can't be looked at.
 */
export function followCgroupEvents(id: number): () => StopReason | undefined {
  const own = groups('self');
  const its = groups(String(id));
  const mounts = cgroupMounts();
  const files = counters.flatMap(({ reason, controller, word, files: [second, first] }) => {
    const version = its.has(controller) ? controller : '';
    const group = its.get(version);
    const mount = mounts.get(version);
    if (group === undefined || mount === undefined || group === own.get(version)) return [];
    const place = path.join(mount.place, path.relative(mount.root, group), version === '' ? second : first);
    return [{ reason, place, counted: new RegExp(`^${word} (?!0$)\\d+$`, 'm') }];
  });
  return () => files.find(({ place, counted }) => counted.test(readGroupFile(place)))?.reason;
}

/** The folder of a process's control group: by controller, and under no name that of version 2. */
export function cgroupFolder(id: string, controller: string): string | undefined {
  const group = groups(id).get(controller);
  const mount = cgroupMounts().get(controller);
  return group === undefined || mount === undefined
    ? undefined
    : path.join(mount.place, path.relative(mount.root, group));
}

/** Where the groups of this process's system are: by controller, and under no name those of version 2. */
function cgroupMounts(): ReadonlyMap<string, Readonly<{ place: string; root: string }>> {
  const found = new Map<string, Readonly<{ place: string; root: string }>>();
  for (const line of readGroupFile('/proc/self/mountinfo').split('\n')) {
    const [, root = '', place = '', type, options = ''] =
      /^\d+ \d+ \S+ (\S+) (\S+) .* - (cgroup2?) \S+ (\S+)$/.exec(line) ?? [];
    const names = type === 'cgroup2' ? [''] : type === 'cgroup' ? options.split(',') : [];
    for (const name of names) if (!found.has(name)) found.set(name, { place, root });
  }
  return found;
}

/** The groups that a process is in, by controller. */
function groups(id: string): ReadonlyMap<string, string> {
  const lines = [...readGroupFile(`/proc/${id}/cgroup`).matchAll(/^\d+:([^:]*):(.*)$/gm)];
  return new Map(
    lines.flatMap(([, names = '', group = '']) => names.split(',').map((name) => [name, group] as const)),
  );
}

/** What the file says; nothing where it is not there any more. */
export function readGroupFile(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    // The process ended, its group went with it, or it may not be looked at.
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}

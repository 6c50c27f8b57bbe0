import { mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { SandboxLimits, StopReason } from '../sandbox.ts';
import { hasCode } from '../../lib/has-code.ts';

export function temporaryBytes({ memoryMb }: SandboxLimits): number {
  return Math.floor(Math.min(256, memoryMb / 4)) * 1024 * 1024;
}

/**
 * The beginning of a command that starts a program under limits for each process. With `awaits` it writes a line to
 * descriptor 3 and waits for one.
 */
export function limitsCommand(
  limits: SandboxLimits,
  {
    ownUsers = false,
    awaits = false,
  }: Readonly<{
    /** Processes are counted for this command alone. */ ownUsers?: boolean;
    awaits?: boolean;
  }> = {},
): readonly [string, ...string[]] {
  const most = limits.processes * 4 + 64;
  const set = [
    ...limitLines(limits),
    // The option is `-p` in dash and `-u` in bash.
    ...(ownUsers ? [`{ ulimit -p ${most} || ulimit -u ${most}; } 2>/dev/null`] : []),
  ];
  const start = awaits ? 'echo >&3; read line <&3 || exit 1; exec "$@" 3>&-' : 'exec "$@"';
  return ['/bin/sh', '-c', `${set.join('; ')}; ${start}`, 'sh'];
}

/** Shell lines that set limits. They are wider than the watched limits, which can name the limit that was reached. */
export function limitLines({ memoryMb, cpuSeconds, diskMb }: SandboxLimits): readonly string[] {
  return [
    `ulimit -t ${cpuSeconds + 5}`,
    // In blocks of 512 bytes.
    `ulimit -f ${diskMb * 2_048}`,
    // Node and other programs reserve much memory that they never use.
    `ulimit -d ${(memoryMb + 1_024) * 1_024}`,
    'ulimit -n 1024',
    'ulimit -c 0',
  ];
}

/** A control group, in which the kernel limits memory and processes. */
export type CommandGroup = Readonly<{
  take(id: number): Promise<void>;
  /** The limit that the kernel enforced; undefined if none. */
  met(): StopReason | undefined;
  close(): void;
}>;

export type CommandGroups =
  Readonly<{ ok: true; open(limits: SandboxLimits): CommandGroup }> | Readonly<{ ok: false; why: string }>;

/** Name of the group for this process, because a group with limited children may hold no process. */
const ownName = 'skillet';
const prefix = 'skillet-command-';
const controllers = ['memory', 'pids'];

/**
 * Opens control groups (version 2) below the one that a service manager delegated (T9; systemd: Delegate=yes). It moves
 * this process into a child group.
 */
export function openCommandGroups(folder = cgroupFolder('self', '')): CommandGroups {
  if (folder === undefined) return { ok: false, why: 'this system has no control groups of version 2' };
  const inOwn = path.basename(folder) === ownName;
  const base = inOwn ? path.dirname(folder) : folder;
  const offered = readGroupFile(path.join(base, 'cgroup.controllers')).trim().split(' ');
  const missing = controllers.filter((name) => !offered.includes(name));
  if (missing.length > 0)
    return { ok: false, why: `its control group does not control ${missing.join(', ')}` };
  // The top group has no type, and may hold processes.
  const isTop = readGroupFile(path.join(base, 'cgroup.type')) === '';
  const others = readGroupFile(path.join(base, 'cgroup.procs'))
    .split('\n')
    .filter((id) => id !== '' && Number(id) !== process.pid);
  if (!isTop && others.length > 0) return { ok: false, why: 'other processes share its control group' };
  try {
    if (!isTop && !inOwn) {
      mkdirSync(path.join(base, ownName), { recursive: true });
      writeFileSync(path.join(base, ownName, 'cgroup.procs'), String(process.pid));
    }
    writeFileSync(path.join(base, 'cgroup.subtree_control'), controllers.map((name) => `+${name}`).join(' '));
    for (const name of readdirSync(base)) if (name.startsWith(prefix)) remove(path.join(base, name));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return { ok: false, why: `it may not change its control group (${String(error.code)})` };
  }
  let opened = 0;
  const ended = new Set<string>();
  return {
    ok: true,
    open(limits) {
      // A group is busy until its last process is gone, which the kernel may be slow to end.
      for (const folder of ended) if (remove(folder)) ended.delete(folder);
      const folder = path.join(base, `${prefix}${process.pid}-${++opened}`);
      const close = (): void => void (remove(folder) || ended.add(folder));
      return { ...openGroup(folder, limits), close };
    },
  };
}

function openGroup(folder: string, { memoryMb, processes }: SandboxLimits): Omit<CommandGroup, 'close'> {
  const file = (name: string): string => path.join(folder, name);
  mkdirSync(folder);
  writeFileSync(file('memory.max'), String(memoryMb * 1024 * 1024));
  writeFileSync(file('memory.oom.group'), '1');
  writeFileSync(file('pids.max'), String(processes * 2));
  try {
    writeFileSync(file('memory.swap.max'), '0');
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  return {
    async take(id) {
      await writeFile(file('cgroup.procs'), String(id)).catch((error: unknown) => {
        if (!hasCode(error, 'ESRCH')) throw error;
      });
    },
    met() {
      if (/^oom_kill (?!0$)\d+$/m.test(readGroupFile(file('memory.events')))) return 'memory';
      return /^max (?!0$)\d+$/m.test(readGroupFile(file('pids.events'))) ? 'processes' : undefined;
    },
  };
}

/** Removes a group. False if processes are left in it. */
function remove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    if (!hasCode(error, 'EBUSY', 'ENOENT')) throw error;
    return hasCode(error, 'ENOENT');
  }
}

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
 * Returns which limit a process's control group has reached since now (T9). Undefined if it shares our group, or can't
 * be read.
 */
export function followGroupEvents(id: number): () => StopReason | undefined {
  const own = groups('self');
  const its = groups(String(id));
  const mounts = groupMounts();
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

/** The folder of a process's control group. The controller '' means version 2. */
function cgroupFolder(id: string, controller: string): string | undefined {
  const group = groups(id).get(controller);
  const mount = groupMounts().get(controller);
  return group === undefined || mount === undefined
    ? undefined
    : path.join(mount.place, path.relative(mount.root, group));
}

function groupMounts(): ReadonlyMap<string, Readonly<{ place: string; root: string }>> {
  const found = new Map<string, Readonly<{ place: string; root: string }>>();
  for (const line of readGroupFile('/proc/self/mountinfo').split('\n')) {
    const [, root = '', place = '', type, options = ''] =
      /^\d+ \d+ \S+ (\S+) (\S+) .* - (cgroup2?) \S+ (\S+)$/.exec(line) ?? [];
    const names = type === 'cgroup2' ? [''] : type === 'cgroup' ? options.split(',') : [];
    for (const name of names) if (!found.has(name)) found.set(name, { place, root });
  }
  return found;
}

function groups(id: string): ReadonlyMap<string, string> {
  const lines = [...readGroupFile(`/proc/${id}/cgroup`).matchAll(/^\d+:([^:]*):(.*)$/gm)];
  return new Map(
    lines.flatMap(([, names = '', group = '']) => names.split(',').map((name) => [name, group] as const)),
  );
}

/** The text of a file; empty if the process or group is gone or can't be read. */
function readGroupFile(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}

import { mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cgroupFolder, readGroupFile } from './limits/watch-limits.ts';
import type { SandboxLimits, StopReason } from './sandbox.ts';

/** The control group of one command: the kernel itself holds its memory and its processes to their limits. */
export type CommandGroup = Readonly<{
  /** Moves a process there, with all that it starts from then on. */
  take(id: number): Promise<void>;
  /** The limit that the kernel enforced, if any. */
  met(): StopReason | undefined;
  close(): void;
}>;

/** Makes groups for commands, or says why this process can't. */
export type CommandGroups =
  Readonly<{ ok: true; open(limits: SandboxLimits): CommandGroup }> | Readonly<{ ok: false; why: string }>;

/** Where this process itself goes: a group with limits for groups below it may hold no process. */
const ownName = 'skillet';
const prefix = 'skillet-command-';
const controllers = ['memory', 'pids'];

/**
 * Prepares control groups of version 2 below the one that this process was given (T9), by trying: a service manager
 * hands one over (systemd: Delegate=yes). Moves this process, and no other, into a group below it.
 */
export function openCommandGroups(folder = cgroupFolder('self', '')): CommandGroups {
  if (folder === undefined) return { ok: false, why: 'this system has no control groups of version 2' };
  const inOwn = path.basename(folder) === ownName;
  const base = inOwn ? path.dirname(folder) : folder;
  const offered = readGroupFile(path.join(base, 'cgroup.controllers')).trim().split(' ');
  const missing = controllers.filter((name) => !offered.includes(name));
  if (missing.length > 0)
    return { ok: false, why: `its control group does not control ${missing.join(', ')}` };
  // The group at the very top has no type, and may hold processes beside groups.
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
  // Wider than what is watched, which names the limit that was met.
  writeFileSync(file('pids.max'), String(processes * 2));
  try {
    writeFileSync(file('memory.swap.max'), '0');
  } catch (error) {
    // A kernel that does not count swap.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  return {
    async take(id) {
      await writeFile(file('cgroup.procs'), String(id)).catch((error: unknown) => {
        // It ended already.
        if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
      });
    },
    met() {
      if (/^oom_kill (?!0$)\d+$/m.test(readGroupFile(file('memory.events')))) return 'memory';
      return /^max (?!0$)\d+$/m.test(readGroupFile(file('pids.events'))) ? 'processes' : undefined;
    },
  };
}

/** Whether it is gone: one with processes in it stays. */
function remove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'EBUSY' && code !== 'ENOENT') throw error;
    return code === 'ENOENT';
  }
}

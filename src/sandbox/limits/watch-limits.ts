import { readFileSync } from 'node:fs';
import path from 'node:path';
import { measureOwnMemory, measureProcesses, measureSockets } from '../../lib/processes/measure-processes.ts';
import { bytesPerName, measureFolders, measureNameless } from './measure-disk.ts';
import type { SandboxLimits, StopReason } from '../sandbox.ts';

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

/** Milliseconds between two looks at processes, and at least between two at the disk. */
const everyProcesses = 25;
const everyDisk = 250;
/** Of the time that a look at the disk takes, how much passes before the next. */
const restAfterDisk = 4;
/** Every so many looks at the disk names are counted, too. */
const namesEvery = 4;

/**
 * Watches what a command and all its processes use together, which no limit of a single process bounds (T9), and says
 * once which limit was met. `root` is the process that they all descend from. `mostInChat` is how much its conversation
 * folder may hold, once that is known.
 */
export function watchLimits(options: {
  root: number;
  scratch: string;
  chat?: string | undefined;
  mostInChat: Promise<number>;
  limits: SandboxLimits;
  /** Which limit the kernel enforced; without it the groups of version 1 or 2 that the root is in are asked. */
  met?: (() => StopReason | undefined) | undefined;
  onOver(reason: StopReason): void;
}): Readonly<{ stop(): void }> {
  const { root, scratch, chat, mostInChat, limits, met: events = followCgroupEvents(root), onOver } = options;
  const stopped = new AbortController();
  const memory = limits.memoryMb * 1024 * 1024;
  const disk = limits.diskMb * 1024 * 1024;
  const folders = chat === undefined ? [scratch] : [scratch, chat];

  const over = (reason: StopReason): void => {
    if (stopped.signal.aborted) return;
    stop();
    onOver(reason);
  };
  const stop = (): void => {
    stopped.abort();
    clearInterval(processes);
  };
  const processes = setInterval(() => {
    const met = events();
    if (met !== undefined) return over(met);
    const load = measureProcesses(root, limits.processes);
    if (load.tasks > limits.processes) over('processes');
    else if (load.cpu > limits.cpuSeconds) over('cpu');
    else {
      const sockets = measureSockets(load.ids.at(-1) ?? root);
      if (load.memory + sockets > memory && measureOwnMemory(load.ids) + sockets > memory) over('memory');
    }
  }, everyProcesses);
  // A disk that can't be measured is not left to the writer.
  void watchDisk().catch(() => over('crashed'));
  return { stop };

  async function watchDisk(): Promise<void> {
    const allowed = [disk, await mostInChat];
    let rest = everyDisk;
    for (let look = 1; ; look++) {
      await pause(rest, stopped.signal);
      if (stopped.signal.aborted) return;
      const began = performance.now();
      const held = await measureFolders(folders);
      const names = look % namesEvery === 0 ? await measureFolders(folders, 'names') : [];
      const nameless = await measureNameless(measureProcesses(root, limits.processes).ids);
      const full = held.some(
        (bytes, index) => bytes + nameless + (names[index] ?? 0) * bytesPerName > (allowed[index] ?? disk),
      );
      if (full) return over('disk');
      rest = Math.max(everyDisk, (performance.now() - began) * restAfterDisk);
    }
  }
}

/** Resolves when the time has passed or the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    resolve();
  });
  if (signal.aborted) resolve();
  return promise;
}

/**
 * Tells which limit the control group of a process has met since it began: what the kernel ends or refuses there, nobody
 * else hears of (T9). Undefined if it shares its group with this process, or can't be looked at.
 */
function followCgroupEvents(id: number): () => StopReason | undefined {
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

/** What the file says; undefined if it is not there any more. */
export function readGroupFile(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    // The process ended, its group went with it, or it may not be looked at.
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}

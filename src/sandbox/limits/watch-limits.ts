import { followCgroupEvents } from './cgroup-events.ts';
import { bytesPerName, measureFolders, measureNameless } from './measure-disk.ts';
import { measureOwnMemory, measureProcesses, measureSockets } from '../../lib/processes/measure-processes.ts';
import type { SandboxLimits, StopReason } from '../sandbox.ts';

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
  // A disk that can't be measured is not left to whoever writes on it.
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

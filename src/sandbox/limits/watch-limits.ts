import { setTimeout as wait } from 'node:timers/promises';
import { measureOwnMemory, measureProcesses, measureSockets } from '../../lib/processes/measure-processes.ts';
import { followGroupEvents } from './kernel-limits.ts';
import { bytesPerName, measureFolders, measureNameless, type Room } from './measure-disk.ts';
import { measureKernel } from './measure-kernel.ts';
import type { SandboxLimits, StopReason } from '../sandbox.ts';

/**
 * Rest between two looks, in milliseconds, and as a multiple of what the look before took, because a command can make
 * looks slow, and the bot has to answer meanwhile. On a busy system a look waits more than it works.
 */
const rests = { processes: { least: 25, factor: 1 }, disk: { least: 250, factor: 4 } };
const longestRest = 3_000;
/** One of this many looks also counts names. */
const namesEvery = 4;

/** Watches all processes of a command together (T9), and calls `onOver` once. */
export function watchLimits(options: {
  /** The first process; 0 if the processes can't be seen, so that only folders are watched. */
  root: number;
  scratch: string;
  chat?: string | undefined;
  /** How much room the conversation's folder has. */
  room: Promise<Room | undefined>;
  limits: SandboxLimits;
  /** Which limit the kernel enforced. By default the root's own groups are asked. */
  met?: (() => StopReason | undefined) | undefined;
  onOver(reason: StopReason): void;
}): Readonly<{ stop(): void }> {
  const { root, scratch, chat, limits, met: events = followGroupEvents(root), onOver } = options;
  const stopped = new AbortController();
  const memory = limits.memoryMb * 1024 * 1024;
  const disk = limits.diskMb * 1024 * 1024;
  /** What the slower looks found. */
  let kernel = 0;
  const folders = chat === undefined ? [scratch] : [scratch, chat];

  const over = (reason: StopReason): void => {
    if (stopped.signal.aborted) return;
    stopped.abort();
    onOver(reason);
  };
  // What can't be measured is not trusted.
  const crashed = (): void => over('crashed');
  void repeat(rests.processes, async () => events() ?? exceeded(root, limits, kernel)).catch(crashed);
  void options.room.then((room) => repeat(rests.disk, lookAtDisk(room))).catch(crashed);
  return { stop: () => stopped.abort() };

  async function repeat(
    { least, factor }: Readonly<{ least: number; factor: number }>,
    look: () => Promise<StopReason | undefined>,
  ): Promise<void> {
    for (let rest = least; ;) {
      await wait(rest, undefined, { signal: stopped.signal }).catch(() => undefined);
      if (stopped.signal.aborted) return;
      const began = performance.now();
      const reason = await look();
      if (reason !== undefined) return over(reason);
      rest = Math.min(longestRest, Math.max(least, (performance.now() - began) * factor));
    }
  }

  function lookAtDisk(room: Room | undefined): () => Promise<StopReason | undefined> {
    const allowed = [disk, room?.bytes ?? disk];
    let looks = 0;
    return async () => {
      const held = await measureFolders(folders);
      const names = ++looks % namesEvery === 0 ? await measureFolders(folders, 'names') : [];
      const { ids } = measureProcesses(root, limits.processes);
      kernel = await measureKernel(ids, memory);
      const nameless = await measureNameless(ids);
      const [full, fullChat] = held.map(
        (bytes, index) => bytes + nameless + (names[index] ?? 0) * bytesPerName > (allowed[index] ?? disk),
      );
      const isOver = full || (fullChat && (nameless > 0 || (await room?.wasUsed()) !== false));
      return isOver === true ? 'disk' : undefined;
    };
  }
}

/** The limit that the processes exceed now. `kernel` is how many bytes the kernel holds for them, besides sockets. */
async function exceeded(
  root: number,
  limits: SandboxLimits,
  kernel: number,
): Promise<StopReason | undefined> {
  const load = measureProcesses(root, limits.processes);
  if (load.tasks > limits.processes) return 'processes';
  if (load.cpu > limits.cpuSeconds) return 'cpu';
  const most = limits.memoryMb * 1024 * 1024;
  const ofKernel = load.kernel + measureSockets(load.ids.at(-1) ?? root) + kernel;
  const isOver = load.memory + ofKernel > most && (await measureOwnMemory(load.ids)) + ofKernel > most;
  return isOver ? 'memory' : undefined;
}

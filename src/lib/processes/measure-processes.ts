import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hasCode } from '../has-code.ts';

export type Load = Readonly<{
  ids: readonly number[];
  tasks: number;
  /** In bytes, without mapped files and page tables. Shared memory counts for each process. */
  memory: number;
  /**
   * Memory of the kernel in bytes: page tables, which grow with the addresses that are read, timers and waiting
   * signals.
   */
  kernel: number;
  cpu: number;
}>;

/** Clock ticks per second, Linux' USER_HZ. */
const ticks = 100;
/** Each timer has a signal, and other memory in addition. */
const bytesPerSignal = 2_048;

export function measureProcesses(root: number, mostTasks: number): Load {
  const ids = [root];
  let signals = 0;
  const sum = { tasks: 0, memory: 0, kernel: 0, cpu: 0 };
  for (const id of ids) {
    const process = read(id);
    if (process === undefined) continue;
    sum.tasks += process.tasks;
    sum.memory += process.memory;
    sum.kernel += process.kernel;
    signals = Math.max(signals, process.signals);
    sum.cpu += process.cpu;
    if (sum.tasks > mostTasks) break;
    ids.push(...process.children);
  }
  return { ids, ...sum, kernel: sum.kernel + signals * bytesPerSignal };
}

/**
 * Bytes of memory, with shared ones divided among their users. A process can hide how it shares (PR_SET_DUMPABLE); then
 * all of its memory counts as its own. The kernel needs up to a second for a process with many memory areas, which does
 * not hold up this one.
 */
export async function measureOwnMemory(ids: readonly number[]): Promise<number> {
  const line = /^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+)/gm;
  let sum = 0;
  for (const id of ids) {
    const shares = await readFile(`/proc/${id}/smaps_rollup`, 'latin1').catch(undefinedIfGone);
    sum += shares === undefined ? (read(id)?.memory ?? 0) : kilobytesOf(shares, line);
  }
  return sum;
}

const queues = / ([0-9A-F]{8}):([0-9A-F]{8}) /g;
const freeSockets = 64;

/** Bytes in the sockets of a process with its own network namespace; 0 for any other. */
export function measureSockets(id: number): number {
  const link = (name: string): string | undefined => unlessGone(() => readlinkSync(`/proc/${name}/ns/net`));
  const network = link(String(id));
  if (network === undefined || network === link('self')) return 0;
  const [, used = '0'] = /^sockets: used (\d+)/.exec(readProc(`${id}/net/sockstat`) ?? '') ?? [];
  if (Number(used) <= freeSockets) return 0;
  const each = Number(readProc('sys/net/core/wmem_default') ?? 0);
  let bytes = (Number(used) - freeSockets) * each;
  for (const kind of ['tcp', 'tcp6'])
    for (const [, sent = '', received = ''] of (readProc(`${id}/net/${kind}`) ?? '').matchAll(queues))
      bytes += Number.parseInt(sent, 16) + Number.parseInt(received, 16);
  return bytes;
}

export function childrenOf(id: number): readonly number[] {
  return (listProc(`${id}/task`) ?? []).flatMap((thread) =>
    (readProc(`${id}/task/${thread}/children`) ?? '').split(' ').filter(Boolean).map(Number),
  );
}

function read(
  id: number,
): Readonly<Omit<Load, 'ids'> & { signals: number; children: readonly number[] }> | undefined {
  const stat = readProc(`${id}/stat`);
  const status = readProc(`${id}/status`);
  if (stat === undefined || status === undefined) return undefined;
  // The name of the process before it may contain anything.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const tasks = fields[17] ?? 1;
  const memory = kilobytesOf(status, /^(?:RssAnon|RssShmem):\s+(\d+)/gm);
  const kernel = kilobytesOf(status, /^VmPTE:\s+(\d+)/gm);
  // It is the number of the user in its namespace, so it is the same for all of these processes.
  const signals = Number(/^SigQ:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  const cpu = fields.slice(11, 15).reduce((sum, each) => sum + each, 0) / ticks;
  const children = childrenOf(id);
  return { tasks, memory, kernel, cpu, signals, children };
}

/** The sum of the matching lines, converted from kilobytes to bytes. */
function kilobytesOf(text: string, line: RegExp): number {
  return [...text.matchAll(line)].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0);
}

function readProc(name: string): string | undefined {
  return unlessGone(() => readFileSync(`/proc/${name}`, 'latin1'));
}

function listProc(name: string): readonly string[] | undefined {
  return unlessGone(() => readdirSync(`/proc/${name}`));
}

function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    return undefinedIfGone(error);
  }
}

function undefinedIfGone(error: unknown): undefined {
  if (hasCode(error, ...goneCodes)) return undefined;
  throw error;
}

const goneCodes = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'];

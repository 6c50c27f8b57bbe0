import { realpath } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { folderSize } from '../../lib/files/list-inside.ts';
import { startShellWorker, type ShellWorker, type ShellAnswer, type ShellSetup } from './shell-worker.ts';
import { placeEntries } from '../own-entries.ts';
import { packageOf } from '../packages/debian-packages.ts';
import type { Sandbox, SandboxOutcome, SandboxRequest } from '../sandbox.ts';
import { hasCode } from '../../lib/has-code.ts';
import { onAbort } from '../../lib/async/on-abort.ts';

/**
 * Needs only `npm install` (T9): just-bash with jq, awk, sed and sqlite3 on the request's folders, without other files,
 * network or host programs. It runs in another process, because V8 may end a whole process when memory runs out. The
 * process is kept for `idleMs` for the same run.
 */
export function createVirtualSandbox(
  options: {
    /** Megabytes, of which the runtime needs about 100. */
    memoryMb?: number;
    diskMb?: number;
    cells?: number;
    idleMs?: number;
    better?: string;
  } = {},
): Sandbox {
  const { memoryMb = 512, diskMb = 256, cells = 4, idleMs = 20_000, better } = options;
  const busy = new Set<ShellWorker>();
  const places = createPlaces(cells);
  const idle = createIdleCells(idleMs);

  async function runInCell(
    request: SandboxRequest,
    setup: ShellSetup,
    library: string,
  ): Promise<SandboxOutcome> {
    const key = JSON.stringify(setup);
    const cell = idle.take(key) ?? startShellWorker(setup, library);
    busy.add(cell);
    try {
      const [scratch, chat] = await Promise.all([roomIn(setup.scratch, diskMb), roomIn(setup.chat, diskMb)]);
      const job = { ...request, secrets: request.secrets ?? [], room: { scratch, chat } };
      const own = placeEntries(request, 'nothing');
      try {
        return outcomeOf(await cell.run(job, request.signal), better);
      } finally {
        own.remove();
      }
    } finally {
      busy.delete(cell);
      idle.keep(key, cell);
    }
  }

  return {
    mode: 'virtual',
    limits: 'time, memory and disk are enforced by the shell in memory',
    reachesNetwork: false,
    seen: (folder) => `/${folder}`,
    async run(request) {
      const library = libraryFolder();
      if (library === undefined) return { status: 'unavailable', message: libraryMissing };
      const setup = await setupOf(request, memoryMb);
      if (!(await places.take(request.signal))) return cancelled;
      try {
        return await runInCell(request, setup, library);
      } finally {
        places.giveBack();
      }
    },
    async close() {
      await Promise.all([...busy, ...idle.takeAll()].map((cell) => cell.end()));
    },
  };
}

/** Lets `most` runs have a place at once. The others wait in their order. */
function createPlaces(most: number): Readonly<{
  /** False if the signal aborts before there is a place. */
  take(signal: AbortSignal): Promise<boolean>;
  giveBack(): void;
}> {
  const waiting = new Set<() => void>();
  let taken = 0;

  async function turn(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.add(resolve);
    const stopListening = onAbort(signal, resolve);
    await promise;
    stopListening();
    waiting.delete(resolve);
  }

  function wakeNext(): void {
    const [next] = waiting;
    if (next === undefined) return;
    waiting.delete(next);
    next();
  }

  return {
    async take(signal) {
      while (taken >= most && !signal.aborted) await turn(signal);
      if (signal.aborted) {
        // It may have been woken for a place that it does not need any more.
        if (taken < most) wakeNext();
        return false;
      }
      taken += 1;
      return true;
    },
    giveBack() {
      taken -= 1;
      wakeNext();
    },
  };
}

/** Keeps the last cells that are idle, each for `idleMs` milliseconds. */
function createIdleCells(idleMs: number): Readonly<{
  take(key: string): ShellWorker | undefined;
  takeAll(): readonly ShellWorker[];
  keep(key: string, cell: ShellWorker): void;
}> {
  const idle = new Map<string, Readonly<{ cell: ShellWorker; timer: NodeJS.Timeout }>>();

  function take(key: string): ShellWorker | undefined {
    const found = idle.get(key);
    idle.delete(key);
    clearTimeout(found?.timer);
    return found?.cell.alive() === true ? found.cell : undefined;
  }

  return {
    take,
    takeAll: () => [...idle.keys()].map(take).filter((cell) => cell !== undefined),
    keep(key, cell) {
      if (!cell.alive()) return;
      const surplus = [take(key), ...[...idle.keys()].slice(0, -(mostIdle - 1)).map(take)];
      const timer = setTimeout(() => void take(key)?.end(), idleMs).unref();
      idle.set(key, { cell, timer });
      for (const old of surplus) void old?.end();
    },
  };
}

const mostIdle = 2;

const cancelled: SandboxOutcome = {
  status: 'stopped',
  reason: 'cancelled',
  stdout: '',
  stderr: '',
  truncated: false,
};

const libraryMissing =
  'scripts run in the package just-bash, which is not installed: run "npm install just-bash" in the folder of the bot';

function outcomeOf(
  answer: Exclude<ShellAnswer, { status: 'ready' }>,
  better = 'bubblewrap is not installed',
): SandboxOutcome {
  if (answer.status !== 'missing') return answer;
  const { program } = answer;
  return {
    status: 'unavailable',
    message: `${program} is not there in the virtual sandbox, which has sh, bash, awk, sed, grep, jq, yq and sqlite3. It takes bubblewrap on the bot's system: apt-get install ${['bubblewrap', ...(program === 'node' ? [] : [packageOf(program) ?? []].flat())].join(' ')} (now: ${better})`,
  };
}

async function setupOf(request: SandboxRequest, memoryMb: number): Promise<ShellSetup> {
  const { skillDirectory, scratch, chat } = request;
  return {
    scratch: await realpath(scratch),
    skill: skillDirectory === undefined ? undefined : await realpath(skillDirectory),
    chat: chat === undefined ? undefined : await realpath(chat),
    memoryMb,
  };
}

async function roomIn(folder: string | undefined, diskMb: number): Promise<number> {
  const most = diskMb * 1024 * 1024;
  return folder === undefined ? 0 : Math.max(0, most - ((await folderSize(folder, most)) ?? 0));
}

function libraryFolder(): string | undefined {
  try {
    const [before = ''] = fileURLToPath(import.meta.resolve('just-bash')).split('/node_modules/');
    return `${before}/node_modules`;
  } catch (error) {
    if (hasCode(error, 'ERR_MODULE_NOT_FOUND')) return undefined;
    throw error;
  }
}

/** The worker thread: a bash in memory that knows only its host folders. Each job gets a new shell. */
import { parentPort, workerData } from 'node:worker_threads';
import {
  Bash,
  MountableFs,
  OverlayFs,
  ReadWriteFs,
  decodeBytesToUtf8,
  defineCommand,
  getCommandNames,
  type IFileSystem,
} from 'just-bash';
import { createRedaction } from '../../lib/redaction/redact.ts';
import { capOutput } from '../limits/cap-output.ts';
import { ownEntries } from '../own-entries.ts';
import type { ShellAnswer, WorkerRequest, ShellJob, ShellSetup, ShellNotice } from './shell-worker.ts';
import { capPrograms } from '../sandbox.ts';

const mebibyte = 1024 * 1024;
const setup = workerData as ShellSetup;
const programs: ReadonlySet<string> = new Set(getCommandNames());
const limits = {
  maxCommandCount: 1e9,
  maxLoopIterations: 1e9,
  maxAwkIterations: 1e9,
  maxSedIterations: 1e9,
  maxJqIterations: 1e9,
  maxWorkUnits: 1e12,
  maxStringLength: 16 * mebibyte,
  maxHeredocSize: 16 * mebibyte,
  maxOutputSize: 32 * mebibyte,
  maxLiveBytes: 128 * mebibyte,
  maxFileSystemBytes: 64 * mebibyte,
  maxArchiveBytes: 64 * mebibyte,
  maxArchiveEntryBytes: 32 * mebibyte,
  maxDatabaseBytes: 64 * mebibyte,
  maxDatabaseResultBytes: 16 * mebibyte,
};
const processInfo = { pid: 2, ppid: 1, uid: 1000, gid: 1000 };

const numbers = { last: 0 };
const asked = new Map<number, (answer: ShellNotice['answer']) => void>();

parentPort?.on('message', (message: ShellJob | ShellNotice) => {
  if ('told' in message) {
    asked.get(message.told)?.(message.answer);
    asked.delete(message.told);
    return;
  }
  asked.clear();
  void answer(message).then((given) => parentPort?.postMessage(given));
});
parentPort?.postMessage({ status: 'ready' } satisfies ShellAnswer);

async function answer(job: ShellJob): Promise<ShellAnswer> {
  const [program, ...args] = job.argv;
  if (!programs.has(program) && !(job.cap && capPrograms.includes(program)))
    return { status: 'missing', program };
  const began = performance.now();
  const { stdout, stderr, exitCode } = await execute(program, args, job);
  const { text: clean } = createRedaction(job.secrets);
  const output = cap(clean(stdout), clean(stderr), job.outputCap);
  const late = performance.now() - began >= job.timeoutMs;
  return late && exitCode !== 0
    ? { status: 'stopped', reason: 'timeout', ...output }
    : { status: 'exited', exitCode, ...output };
}

async function execute(
  program: string,
  args: readonly string[],
  job: ShellJob,
): Promise<Readonly<{ stdout: string; stderr: string; exitCode: number }>> {
  const executionLimits = { ...limits, maxExecutionTimeMs: job.timeoutMs };
  const customCommands = job.cap ? capCommands : [];
  // The default file system has /bin, /tmp, /dev and /proc in memory.
  const { fs: base } = new Bash({ executionLimits, processInfo, customCommands });
  const disk = new MountableFs({ base });
  disk.mount('/scratch', limitDisk(workingFolder(), job.room.scratch));
  if (setup.chat !== undefined) {
    disk.mount('/chat', limitDisk(new ReadWriteFs({ root: setup.chat }), job.room.chat));
  }
  if (setup.skill !== undefined) {
    disk.mount('/skill', new OverlayFs({ root: setup.skill, mountPoint: '/', readOnly: true }));
  }
  const shell = new Bash({
    fs: disk,
    cwd: '/scratch',
    env: { ...job.env, PATH: '/usr/bin:/bin', HOME: '/scratch', TMPDIR: '/tmp' },
    executionLimits,
    processInfo,
    customCommands,
    defenseInDepth: { enabled: true, processLifetimeIntrinsicHardening: true },
  });
  try {
    return await shell.exec(program, { args: [...args], stdin: '' });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { stdout: '', stderr: `${program}: ${message}\n`, exitCode: 1 };
  }
}

/** Which arguments of a file system's methods are paths, if it is not just the first one. */
const pathsOf: Readonly<Record<string | symbol, readonly number[]>> = {
  cp: [0, 1],
  mv: [0, 1],
  link: [0, 1],
  symlink: [1],
  resolvePath: [],
};

/** The run's folder, with what it shows of the skill. */
function workingFolder(): IFileSystem {
  const folder = new ReadWriteFs({ root: setup.scratch });
  if (setup.skill === undefined) return folder;
  const skill = new OverlayFs({ root: setup.skill, mountPoint: '/', readOnly: true });
  const own = ownEntries({ skillDirectory: setup.skill, scratch: setup.scratch }).map(
    ({ names, isFolder }) => ({
      ...{ name: names.at(-1) ?? '', isFile: !isFolder, isDirectory: isFolder, isSymbolicLink: false },
      place: `/${names.join('/')}`,
      below: `/${names.slice(0, -1).join('/')}`,
    }),
  );
  const isOwn = (path: unknown): boolean =>
    own.some(({ place }) => path === place || String(path).startsWith(`${place}/`));
  const shownIn = (path: string): typeof own => own.filter(({ below }) => below === path);
  const joined: Pick<IFileSystem, 'readdir' | 'readdirWithFileTypes'> = {
    readdir: async (path) =>
      [...(await folder.readdir(path)), ...shownIn(path).map(({ name }) => name)].sort(),
    readdirWithFileTypes: async (path) => [...(await folder.readdirWithFileTypes(path)), ...shownIn(path)],
  };
  return new Proxy<IFileSystem>(folder, {
    get(target, key) {
      const usual: unknown = Object.hasOwn(joined, key) ? Reflect.get(joined, key) : Reflect.get(target, key);
      if (typeof usual !== 'function') return usual;
      return (...given: unknown[]): unknown => {
        // What names an entry of the skill goes to the skill's file system, which refuses to write.
        const to = (pathsOf[key] ?? [0]).some((at) => isOwn(given[at])) ? skill : undefined;
        const work: unknown = to === undefined ? usual : Reflect.get(to, key);
        return Reflect.apply(work as (...args: unknown[]) => unknown, to ?? target, given);
      };
    },
  });
}

const capCommands = capPrograms.map((name) =>
  defineCommand(name, (given, { stdin }) => {
    const { promise, resolve } = Promise.withResolvers<ShellNotice['answer']>();
    const number = ++numbers.last;
    asked.set(number, resolve);
    const input = decodeBytesToUtf8(stdin);
    const words = given[0] === 'capability' ? given.slice(1) : given;
    parentPort?.postMessage({ status: 'asks', number, words, input } satisfies WorkerRequest);
    return promise;
  }),
);

function cap(
  stdout: string,
  stderr: string,
  limit: number,
): Readonly<{ stdout: string; stderr: string; truncated: boolean }> {
  const out = capOutput(stdout, limit);
  const err = capOutput(stderr, limit);
  return { stdout: out.text, stderr: err.text, truncated: out.truncated || err.truncated };
}

/** Bytes that each write counts in addition, so that endless empty files end, too. */
const perWrite = 512;

/** The same file system, with room for `bytes` of writing in all. */
function limitDisk(disk: IFileSystem, bytes: number): IFileSystem {
  let left = bytes;
  const spend = (amount: number, path: string): void => {
    left -= amount + perWrite;
    if (left < 0) throw new Error(`ENOSPC: no space left on device, write '${path}'`);
  };
  const limited: Pick<IFileSystem, 'writeFile' | 'appendFile' | 'mkdir' | 'link' | 'cp'> = {
    async writeFile(path, content, options) {
      spend(content.length, path);
      await disk.writeFile(path, content, options);
    },
    async appendFile(path, content, options) {
      spend(content.length, path);
      await disk.appendFile(path, content, options);
    },
    async mkdir(path, options) {
      spend(0, path);
      await disk.mkdir(path, options);
    },
    // The permission model forbids changing hard-linked files.
    async link(existing) {
      throw new Error(`EPERM: operation not permitted, link '${existing}'`);
    },
    // The library's way changes modes of open files, which is forbidden.
    async cp(source, target, options) {
      const { isFile, isDirectory } = await disk.lstat(source);
      if (isFile) return limited.writeFile(target, await disk.readFileBuffer(source));
      if (!isDirectory) throw new Error(`EPERM: operation not permitted, cp '${source}'`);
      if (options?.recursive !== true) throw new Error(`EISDIR: is a directory, cp '${source}'`);
      if (`${target}/`.startsWith(`${source}/`)) throw new Error(`EINVAL: into itself, cp '${source}'`);
      await limited.mkdir(target, { recursive: true });
      for (const name of await disk.readdir(source)) {
        await limited.cp(disk.resolvePath(source, name), disk.resolvePath(target, name), options);
      }
    },
  };
  return new Proxy(disk, {
    get(target, key) {
      const source = Object.hasOwn(limited, key) ? limited : target;
      const value: unknown = Reflect.get(source, key, source);
      return typeof value === 'function' ? (value.bind(source) as unknown) : value;
    },
  });
}

/**
 * The worker thread of a cell: a bash in memory that knows its folders of the host and nothing else of it. It runs one
 * job after another, each in a shell of its own.
 */
import { parentPort, workerData } from 'node:worker_threads';
import {
  Bash,
  MountableFs,
  OverlayFs,
  ReadWriteFs,
  decodeBytesToUtf8,
  defineCommand,
  getCommandNames,
} from 'just-bash';
import { createRedaction } from '../../lib/redaction/redact.ts';
import { capOutput } from '../limits/cap-output.ts';
import type { ShellAnswer, ShellRequest, ShellJob, ShellSetup, ShellNotice } from './shell-worker.ts';
import { limitDisk } from '../limits/limit-disk.ts';
import { capPrograms } from '../sandbox.ts';
import { shellStart } from '../shell-start.ts';

const mebibyte = 1024 * 1024;
const setup = workerData as ShellSetup;
const programs: ReadonlySet<string> = new Set(getCommandNames());
const limits = {
  // Loops are stopped by the clock, not by counting: a long script is no fault.
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
/** Shown to scripts in place of the host's own. */
const processInfo = { pid: 2, ppid: 1, uid: 1000, gid: 1000 };

/** What the host was asked for and has not told yet, by number. */
const numbers = { last: 0 };
const asked = new Map<number, (answer: ShellNotice['answer']) => void>();

parentPort?.on('message', (message: ShellJob | ShellNotice) => {
  if ('told' in message) {
    asked.get(message.told)?.(message.answer);
    asked.delete(message.told);
    return;
  }
  // What an earlier job asked for is nobody's any more.
  asked.clear();
  void answer(message).then((given) => parentPort?.postMessage(given));
});
parentPort?.postMessage({ status: 'ready' } satisfies ShellAnswer);

async function answer(job: ShellJob): Promise<ShellAnswer> {
  const [program, ...args] = job.argv;
  if (!programs.has(program) && !(job.cap && capPrograms.includes(program)))
    return { status: 'missing', program };
  const began = performance.now();
  const start = program === 'sh' || program === 'bash' ? shellStart(args) : args;
  const { stdout, stderr, exitCode } = await execute(program, start, job);
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
  // A shell that is given no file system makes the usual one: /bin, /tmp, /dev, /proc, in memory.
  const customCommands = job.cap ? capCommands : [];
  const { fs: base } = new Bash({ executionLimits, processInfo, customCommands });
  const disk = new MountableFs({ base });
  disk.mount('/scratch', limitDisk(new ReadWriteFs({ root: setup.scratch }), job.room.scratch));
  if (setup.chat !== undefined) {
    disk.mount('/chat', limitDisk(new ReadWriteFs({ root: setup.chat }), job.room.chat));
  }
  if (setup.skill !== undefined) {
    disk.mount('/skill', new OverlayFs({ root: setup.skill, mountPoint: '/', readOnly: true }));
  }
  const shell = new Bash({
    fs: disk,
    cwd: '/scratch',
    // Here and not with the command: only names the shell was made with are handed on to scripts.
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

/** `skillet-cap`: the host carries it out (C4). */
const capCommands = capPrograms.map((name) =>
  defineCommand(name, (given, { stdin }) => {
    const { promise, resolve } = Promise.withResolvers<ShellNotice['answer']>();
    const number = ++numbers.last;
    asked.set(number, resolve);
    const input = decodeBytesToUtf8(stdin);
    const words = given[0] === 'capability' ? given.slice(1) : given;
    parentPort?.postMessage({ status: 'asks', number, words, input } satisfies ShellRequest);
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

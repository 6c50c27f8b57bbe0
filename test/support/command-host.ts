/**
 * Carries out command lines for `run-cli.ts`, one after another: to load the program for each takes longer than most of
 * them do. Each gets its own arguments, environment, folder, input and output, as a process of its own would.
 */
import { Readable } from 'node:stream';
import { main } from '../../src/cli/main.ts';
import type { CliRun } from './run-cli.ts';

/** One command line, as its process would be given it. */
export type CommandLine = Readonly<{
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  input: string;
}>;

// What a command leaves behind must not reach the next one.
const ofCommands = ['uncaughtException', 'SIGINT', 'SIGTERM', 'SIGHUP'];

process.on('message', (line) => void carryOut(line as CommandLine).then((ran) => process.send?.(ran)));
process.once('disconnect', () => process.exit());

async function carryOut({ args, cwd, env, input }: CommandLine): Promise<CliRun> {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true });
  process.exitCode = undefined;
  const [stdout, stderr] = [listenTo(process.stdout), listenTo(process.stderr)];
  await main(args);
  // What it left to do finds a folder even when its own is gone.
  process.chdir('/');
  const code = Number(process.exitCode ?? 0);
  for (const name of ofCommands) process.removeAllListeners(name);
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Nothing is printed until what this gives is called, which tells what would have been. */
function listenTo(stream: NodeJS.WriteStream): () => string {
  const write = stream.write;
  const said: Buffer[] = [];
  stream.write = (chunk: string | Uint8Array, ...more: unknown[]): boolean => {
    said.push(Buffer.from(chunk as string));
    const done = more.find((each) => typeof each === 'function');
    if (done !== undefined) process.nextTick(done);
    return true;
  };
  return () => {
    stream.write = write;
    stream.removeAllListeners('error');
    return Buffer.concat(said).toString();
  };
}

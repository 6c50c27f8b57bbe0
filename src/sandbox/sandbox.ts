import type { Deadline } from '../lib/async/deadline.ts';
import type { Secret } from '../lib/redaction/redact.ts';

/** Where commands run; `auto` in config picks one (T9). */
export const sandboxModes = ['bubblewrap', 'virtual', 'docker', 'off'] as const;
export type SandboxMode = (typeof sandboxModes)[number];

/** The folders that commands have. In every sandbox but `off` they are `/skill`, `/scratch`, `/chat` and `/packages`. */
export type SandboxFolder = 'skill' | 'scratch' | 'chat' | 'packages';

/** Names of the capability program: ours, and the one of skills written for Ash, as `ash-sb capability` (C4). */
export const capPrograms: readonly string[] = ['skillet-cap', 'ash-sb'];

export type CapAnswer = Readonly<{ stdout: string; stderr: string; exitCode: number }>;

/** Carries out `skillet-cap WORDS` with `input` on its standard input, for one command only (C4). */
export type ServeCap = (words: readonly string[], input: string, signal: AbortSignal) => Promise<CapAnswer>;

/** Pauses the time of a command while the host serves it, which may wait for a person. */
export function pausing(serve: ServeCap | undefined, deadline: Deadline): Readonly<{ cap?: ServeCap }> {
  if (serve === undefined) return {};
  return { cap: (words, input, signal) => deadline.pause(() => serve(words, input, signal)) };
}

/** One command to run. Paths of folders are the host's. */
export type SandboxRequest = Readonly<{
  /** Program and arguments: never a shell string (R5). */
  argv: readonly [program: string, ...rest: string[]];
  /** Mounted read-only; absent for a skill that is a single file. */
  skillDirectory?: string;
  /** Folder of the run: mounted read-write, the working directory. It exists. */
  scratch: string;
  /** Folder of the conversation: mounted read-write (T10). It exists. */
  chat?: string;
  /** Folder with packages that were fetched for it: mounted read-only (R7). */
  packages?: string;
  /** Programs of the host that it has, too, by their own names. A virtual sandbox has none of them. */
  programs?: readonly string[];
  /** Host patterns that a skill declares; empty: no network. A sandbox without `reachesNetwork` has none. */
  network: readonly string[];
  /** Serves `skillet-cap`; the command's time pauses meanwhile. A container without the bot's own node has none. */
  cap?: ServeCap;
  /** Checked by `skillEnvironment`. The sandbox adds its own PATH and HOME, and nothing of the host's (U3). */
  env: Readonly<Record<string, string>>;
  /** Removed from its output before that is cut, so that no cut leaves half a secret (U3). */
  secrets?: readonly Secret[];
  timeoutMs: number;
  /** Characters kept of each stream: beginning and end, with a marker between. */
  outputCap: number;
  signal: AbortSignal;
}>;

/** A shell for a person, at this process's own terminal. */
export type ShellRequest = Pick<
  SandboxRequest,
  'skillDirectory' | 'scratch' | 'chat' | 'network' | 'env' | 'signal'
>;

/** What one command may use; of time it has `timeoutMs`. */
export type SandboxLimits = Readonly<{
  /** Resident memory of all its processes together, a runtime's own included. */
  memoryMb: number;
  /** Processor time of all its processes together. */
  cpuSeconds: number;
  /** Processes and threads at the same time. */
  processes: number;
  /** What its scratch folder may hold, and what its conversation folder may hold or held before. */
  diskMb: number;
}>;

export type SandboxOutput = Readonly<{
  stdout: string;
  stderr: string;
  truncated: boolean;
  /** A few hosts that the command asked for and did not reach, each with why. */
  refused?: readonly string[];
}>;

export type SandboxOutcome =
  | (Readonly<{ status: 'exited'; exitCode: number }> & SandboxOutput)
  /** Ended from outside, with all its processes; output may be lost. */
  | (Readonly<{ status: 'stopped'; reason: StopReason }> & SandboxOutput)
  /** It can't be run here at all: `message` says why and what to install. */
  | Readonly<{ status: 'unavailable'; message: string }>;

/** How a shell ended. */
export type ShellEnd =
  | Readonly<{ status: 'exited'; exitCode: number }>
  | Readonly<{ status: 'stopped'; reason: StopReason }>
  | Readonly<{ status: 'unavailable'; message: string }>;

/** `cpu` and `timeout` are of time; `crashed` is for unknown reasons. */
export type StopReason =
  'timeout' | 'cancelled' | 'cpu' | 'memory' | 'processes' | 'disk' | 'output' | 'crashed';

/** Runs commands that can touch their skill (to read), their scratch and conversation folders, and nothing else of the host (T9). */
export type Sandbox = Readonly<{
  mode: SandboxMode;
  /** Commands can reach the hosts that a skill declares. */
  reachesNetwork: boolean;
  /** Debian packages of a system that is neither the host's nor the root file system. */
  installed?: ReadonlySet<string>;
  /** Which limits the kernel itself enforces here, and which are watched: one line for operators (T9). */
  limits?: string;
  /** A folder as commands see it: the skill's is what `{baseDir}` becomes (I5). */
  seen(folder: SandboxFolder, host: string): string;
  /** Throws only for faults of the host (a folder that is gone). */
  run(request: SandboxRequest): Promise<SandboxOutcome>;
  /** Lets a person look around at this process's terminal, without limits of time and output (R6). Absent if commands see the host, or no programs. */
  shell?(request: ShellRequest): Promise<ShellEnd>;
  /** Ends what still runs or waits. */
  close(): Promise<void>;
}>;

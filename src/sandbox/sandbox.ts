import type { Deadline } from '../lib/async/deadline.ts';
import type { Secret } from '../lib/redaction/redact.ts';

/** `auto` in config picks one (T9). */
export type SandboxMode = 'bubblewrap' | 'virtual' | 'docker' | 'off';

/** In every sandbox but `off`: `/skill`, `/scratch`, `/chat`, `/packages`. */
type SandboxFolder = 'skill' | 'scratch' | 'chat' | 'packages';

/** Ours, and `ash-sb capability` for skills written for Ash (C4). */
export const capPrograms: readonly string[] = ['skillet-cap', 'ash-sb'];

export type CapAnswer = Readonly<{ stdout: string; stderr: string; exitCode: number }>;

/** Runs `skillet-cap WORDS` with `input` on standard input, for one command (C4). */
export type ServeCap = (words: readonly string[], input: string, signal: AbortSignal) => Promise<CapAnswer>;

/** Stops the clock while the host serves it, which may wait for a person. */
export function pausing(serve: ServeCap | undefined, deadline: Deadline): Readonly<{ cap?: ServeCap }> {
  if (serve === undefined) return {};
  return { cap: (words, input, signal) => deadline.pause(() => serve(words, input, signal)) };
}

/** One command to run. Paths of folders are the host's. */
export type SandboxRequest = Readonly<{
  /** Never a shell string (R5). */
  argv: readonly [program: string, ...rest: string[]];
  /** Read-only; absent for a single-file skill. */
  skillDirectory?: string;
  /** The run's folder: read-write, working directory. It exists. */
  scratch: string;
  /** The conversation's folder, read-write (T10). It exists. */
  chat?: string;
  /** Fetched packages, read-only (R7). */
  packages?: string;
  /** More host programs by name; not in a virtual sandbox. */
  programs?: readonly string[];
  /** Host patterns; empty, or without `reachesNetwork`: no network. */
  network: readonly string[];
  /** The command's clock pauses meanwhile. Not in a container without the bot's node. */
  cap?: ServeCap;
  /** Checked by `skillEnvironment`. The sandbox adds PATH and HOME, nothing of the host's (U3). */
  env: Readonly<Record<string, string>>;
  /** Redacted before output is cut, so no cut leaves half a secret (U3). */
  secrets?: readonly Secret[];
  timeoutMs: number;
  /** Characters of each stream; cut in the middle. */
  outputCap: number;
  signal: AbortSignal;
}>;

export type ShellRequest = Pick<
  SandboxRequest,
  'skillDirectory' | 'scratch' | 'chat' | 'network' | 'env' | 'signal'
>;

export type SandboxLimits = Readonly<{
  /** Resident memory of all its processes, the runtime included. */
  memoryMb: number;
  cpuSeconds: number;
  /** Processes and threads at the same time. */
  processes: number;
  /** For scratch, and for the conversation's folder, which may keep what it held before. */
  diskMb: number;
}>;

export type SandboxOutput = Readonly<{
  stdout: string;
  stderr: string;
  truncated: boolean;
  /** Some refused hosts, with reasons. */
  refused?: readonly string[];
}>;

export type SandboxOutcome =
  | (Readonly<{ status: 'exited'; exitCode: number }> & SandboxOutput)
  /** Killed with all its processes; output may be lost. */
  | (Readonly<{ status: 'stopped'; reason: StopReason }> & SandboxOutput)
  /** `message`: why, and what to install. */
  | Readonly<{ status: 'unavailable'; message: string }>;

export type ShellEnd =
  | Readonly<{ status: 'exited'; exitCode: number }>
  | Readonly<{ status: 'stopped'; reason: StopReason }>
  | Readonly<{ status: 'unavailable'; message: string }>;

/** `cpu` and `timeout` are times; `crashed`: unknown. */
export type StopReason =
  'timeout' | 'cancelled' | 'cpu' | 'memory' | 'processes' | 'disk' | 'output' | 'crashed';

/** Commands reach only their skill (read-only), scratch and conversation folder (T9). */
export type Sandbox = Readonly<{
  mode: SandboxMode;
  reachesNetwork: boolean;
  /** Debian packages of a container image. */
  installed?: ReadonlySet<string>;
  /** Which limits the kernel itself enforces here, and which are watched: one line for operators (T9). */
  limits?: string;
  /** A folder's path inside; `{baseDir}` is the skill's (I5). */
  seen(folder: SandboxFolder, host: string): string;
  /** Throws only for faults of the host (a missing folder). */
  run(request: SandboxRequest): Promise<SandboxOutcome>;
  /** For a person at this terminal, without limits of time and output (R6). Absent if commands see the host, or no programs. */
  shell?(request: ShellRequest): Promise<ShellEnd>;
  close(): Promise<void>;
}>;

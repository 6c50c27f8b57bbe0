import type { Secret } from '../lib/redaction/redact.ts';

/** Where commands run; `auto` in config picks one (T9). */
export const sandboxModes = ['bubblewrap', 'virtual', 'docker', 'off'] as const;
export type SandboxMode = (typeof sandboxModes)[number];

/** The folders that commands have. In every sandbox but `off` they are `/skill`, `/scratch`, `/chat` and `/packages`. */
export type SandboxFolder = 'skill' | 'scratch' | 'chat' | 'packages';

/** Names of the program for capabilities: the bot's own, and the one that skills written for Ash call, as `ash-sb capability` (C4). */
export const capPrograms: readonly string[] = ['skillet-cap', 'ash-sb'];

/** What one `skillet-cap` command comes to. */
export type CapAnswer = Readonly<{ stdout: string; stderr: string; exitCode: number }>;

/** Carries out `skillet-cap WORDS` with that on its standard input, for one command and no other (C4). */
export type ServeCap = (words: readonly string[], input: string, signal: AbortSignal) => Promise<CapAnswer>;

/** One command to run. Paths of folders are the host's. */
export type SandboxRequest = Readonly<{
  /** Program and arguments: never a shell string (R5). */
  argv: readonly [program: string, ...rest: string[]];
  /** Mounted read-only; absent for a skill that is a single file. */
  skillDirectory?: string;
  /** Folder of the run: mounted read-write, the working directory. It exists already. */
  scratch: string;
  /** Folder of the conversation: mounted read-write where it is given (T10). It exists already. */
  chat?: string;
  /** Folder with packages that were fetched for it: mounted read-only where it is given (R7). */
  packages?: string;
  /** Programs of the host that it has besides those of its system, by their own names. A virtual sandbox has none of them. */
  programs?: readonly string[];
  /** Host patterns that a skill declares; empty: no network at all. A sandbox without `reachesNetwork` gives none. */
  network: readonly string[];
  /** Serves `skillet-cap`, which the command has only with it; its time stands still meanwhile. A container without the bot's own node has none. */
  cap?: ServeCap;
  /** Checked by `skillEnvironment`; the sandbox adds its own PATH and HOME, and nothing of the host's (U3). */
  env: Readonly<Record<string, string>>;
  /** What its output must not show: taken out before that is cut, so that no cut leaves half a secret (U3). */
  secrets?: readonly Secret[];
  timeoutMs: number;
  /** Characters kept of each stream: its beginning and its end, with a marker between. */
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
  /** Hosts that the command asked for and did not reach, each with why; a few at most. */
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

/** Which limit a command met: `cpu` and `timeout` are of time, `crashed` is for a reason that is not known. */
export type StopReason =
  'timeout' | 'cancelled' | 'cpu' | 'memory' | 'processes' | 'disk' | 'output' | 'crashed';

/** Runs commands that can touch their skill (to read), their scratch and conversation folders, and nothing else of the host (T9). */
export type Sandbox = Readonly<{
  mode: SandboxMode;
  /** Commands can reach the hosts that a skill declares. */
  reachesNetwork: boolean;
  /** Names of packages in a system that is neither the host's nor the root file system; else absent. */
  installed?: ReadonlySet<string>;
  /** Which limits the kernel itself enforces here, and which are watched: one line for operators (T9). */
  limits?: string;
  /** A folder of the host as commands see it: the skill's is what `{baseDir}` becomes (I5). */
  seen(folder: SandboxFolder, host: string): string;
  /** Throws for faults of the host only (a folder that is gone). Otherwise everything is an outcome. */
  run(request: SandboxRequest): Promise<SandboxOutcome>;
  /**
   * Has a person look around in what commands see, at this process's own terminal, with the limits of commands but those
   * of time and output (R6). Absent where commands see the host, or no programs.
   */
  shell?(request: ShellRequest): Promise<ShellEnd>;
  /** Ends what still runs or waits. */
  close(): Promise<void>;
}>;

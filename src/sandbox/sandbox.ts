import type { Deadline } from '../lib/async/deadline.ts';
import type { Secret } from '../lib/redaction/redact.ts';

/** How commands are isolated. `auto` in the config picks one of these (T9). */
export type SandboxMode = 'bubblewrap' | 'virtual' | 'docker' | 'off';

/** Folders that commands see. In every sandbox but `off` they are `/skill`, `/scratch`, `/chat` and `/packages`. */
type SandboxFolder = 'skill' | 'scratch' | 'chat' | 'packages';

/** Our program, and `ash-sb capability` for skills written for Ash (C4). */
export const capPrograms: readonly string[] = ['skillet-cap', 'ash-sb'];

export type CapAnswer = Readonly<{ stdout: string; stderr: string; exitCode: number }>;

/** Runs `skillet-cap WORDS` with `input` on standard input, for one command (C4). */
export type ServeCap = (words: readonly string[], input: string, signal: AbortSignal) => Promise<CapAnswer>;

/** Stops the command's clock while the bot serves a call, which may wait for a person. */
export function pausing(serve: ServeCap | undefined, deadline: Deadline): Readonly<{ cap?: ServeCap }> {
  if (serve === undefined) return {};
  return { cap: (words, input, signal) => deadline.pause(() => serve(words, input, signal)) };
}

/** Folders of a command, as paths of the host. */
export type SandboxFolders = Readonly<{
  /** The skill's folder, which is read-only; undefined for a skill of a single file. */
  skillDirectory?: string;
  /** The run's folder, which exists and can be written. It is the working directory. */
  scratch: string;
  /** The conversation's folder, which exists and can be written (T10). */
  chat?: string;
}>;

/** Programs and packages that a command gets beside those of the sandbox. */
export type SandboxPackages = Readonly<{
  /** Folder of fetched packages, which is read-only (R7). */
  packages?: string;
  /** Further programs of the host by their names. Not in a virtual sandbox. */
  programs?: readonly string[];
}>;

/** A command and the files that it sees. */
export type SandboxCommand = SandboxFolders &
  SandboxPackages &
  Readonly<{
    /** Program and arguments, never a shell string (R5). */
    argv: readonly [program: string, ...rest: string[]];
  }>;

/** What an interactive shell of a skill gets. */
export type ShellRequest = SandboxFolders &
  Readonly<{
    /** Patterns of hosts that may be reached. If it is empty, or without `reachesNetwork`, there is no network. */
    network: readonly string[];
    /** Variables that `skillEnvironment` has checked. The sandbox adds PATH and HOME, but nothing of the host's (U3). */
    env: Readonly<Record<string, string>>;
    signal: AbortSignal;
  }>;

/** A command to run, with its files, network and limits. */
export type SandboxRequest = SandboxCommand &
  ShellRequest &
  Readonly<{
    /** Serves `skillet-cap`; the command's clock pauses meanwhile. Not in a container without the bot's node. */
    cap?: ServeCap;
    /** Redacted before output is cut, so that no cut leaves half a secret (U3). */
    secrets?: readonly Secret[];
    timeoutMs: number;
    /** Most characters of each stream. Longer output is cut in the middle. */
    outputCap: number;
  }>;

export type SandboxLimits = Readonly<{
  /** Megabytes of resident memory of all its processes, the runtime included. */
  memoryMb: number;
  cpuSeconds: number;
  /** How many processes and threads there may be at the same time. */
  processes: number;
  /** Megabytes for scratch, and for the conversation's folder, which may keep what it held before. */
  diskMb: number;
}>;

export type SandboxOutput = Readonly<{
  stdout: string;
  stderr: string;
  truncated: boolean;
  /** Some of the hosts that were refused, with the reasons. */
  refused?: readonly string[];
}>;

export type SandboxOutcome =
  | (Readonly<{ status: 'exited'; exitCode: number }> & SandboxOutput)
  /** It was killed with all its processes. Output may be lost. */
  | (Readonly<{ status: 'stopped'; reason: StopReason }> & SandboxOutput)
  /** It could not run. `message` says why, and what to install. */
  | Readonly<{ status: 'unavailable'; message: string }>;

export type ShellEnd =
  | Readonly<{ status: 'exited'; exitCode: number }>
  | Readonly<{ status: 'stopped'; reason: StopReason }>
  | Readonly<{ status: 'unavailable'; message: string }>;

/** Why a command was stopped. `cpu` and `timeout` are limits of time; `crashed` means an unknown reason. */
export type StopReason =
  'timeout' | 'cancelled' | 'cpu' | 'memory' | 'processes' | 'disk' | 'output' | 'crashed';

/** Runs commands that reach only their skill (read-only), scratch and conversation folder (T9). */
export type Sandbox = Readonly<{
  mode: SandboxMode;
  reachesNetwork: boolean;
  /** Debian packages of a container image; undefined without one. */
  installed?: ReadonlySet<string>;
  /** Which limits the kernel itself enforces here, and which are watched, on one line for operators (T9). */
  limits?: string;
  /** The path of a folder inside. `{baseDir}` is that of the skill (I5). */
  seen(folder: SandboxFolder, host: string): string;
  /** Runs a command. Throws only for faults of the host, such as a missing folder. */
  run(request: SandboxRequest): Promise<SandboxOutcome>;
  /**
   * Opens a shell for a person at this terminal, without limits of time and output (R6). Undefined if commands see the
   * host, or run no programs.
   */
  shell?(request: ShellRequest): Promise<ShellEnd>;
  close(): Promise<void>;
}>;

/** Where commands run; `auto` in config picks one (T9). */
export const sandboxModes = ['bubblewrap', 'virtual', 'docker', 'off'] as const;
export type SandboxMode = (typeof sandboxModes)[number];

/** One command to run. Paths of folders are the host's. */
export type SandboxRequest = Readonly<{
  /** Program and arguments: never a shell string (R5). */
  argv: readonly [program: string, ...rest: string[]];
  /** Mounted read-only at `skillPath`; absent for a skill that is a single file. */
  skillDirectory?: string;
  /** Folder of the run: mounted read-write, the working directory. It exists already. */
  scratch: string;
  /** Checked by `skillEnvironment`; the sandbox adds its own PATH and HOME, and nothing of the host's (U3). */
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Characters kept of each stream: its beginning and its end, with a marker between. */
  outputCap: number;
  signal: AbortSignal;
}>;

export type SandboxOutput = Readonly<{ stdout: string; stderr: string; truncated: boolean }>;

export type SandboxOutcome =
  | (Readonly<{ status: 'exited'; exitCode: number }> & SandboxOutput)
  /** Ended from outside, with all its processes; output may be lost. `crashed`: for a reason that is not known. */
  | (Readonly<{ status: 'stopped'; reason: 'timeout' | 'cancelled' | 'memory' | 'crashed' }> & SandboxOutput)
  /** It can't be run here at all: `message` says why and what to install. */
  | Readonly<{ status: 'unavailable'; message: string }>;

/** Runs commands that can touch their skill (to read) and their scratch folder, and nothing else of the host (T9). */
export type Sandbox = Readonly<{
  mode: SandboxMode;
  /** Commands can reach the hosts that a skill declares. */
  reachesNetwork: boolean;
  /** The skill's folder as commands see it: what `{baseDir}` becomes (I5). */
  skillPath(skillDirectory: string): string;
  /** Throws for faults of the host only (a folder that is gone). Otherwise everything is an outcome. */
  run(request: SandboxRequest): Promise<SandboxOutcome>;
  /** Ends what still runs or waits. */
  close(): Promise<void>;
}>;

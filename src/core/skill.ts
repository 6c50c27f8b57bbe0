import type { Diagnostic, ErrorCode } from './codes.ts';
import type { ChatType } from './conversation.ts';
import type { Tokens } from './model.ts';
import type { Taint } from './taint.ts';
import type { DeliveredFile } from './tool.ts';

/** Where a skill came from; later ones override earlier ones by name (D1). */
export const origins = ['bundled', 'integration', 'installed', 'user', 'workspace'] as const;
export type Origin = (typeof origins)[number];

/** The effective access of a name: its own definition made stricter by those it shadows (D3). */
export type SkillAccess = Readonly<{
  /** Where it may be used at all; A2 evaluated for each definition and intersected. */
  chatTypes: readonly ChatType[];
  sensitive: boolean;
  /** Off until config says `enabled = true`. */
  optIn: boolean;
  /** False: the bot wrote it, and nobody answerable has enabled these very files; off whatever config says (D9). */
  approved: boolean;
  disableModelInvocation: boolean;
  userInvocable: boolean;
  /** One sentence for each thing a shadowed definition made stricter. */
  why: readonly string[];
}>;

/** A file of an installed skill, as it was agreed to. */
export type PinnedFile = Readonly<{
  /** Inside the skill's folder, with `/`. */
  path: string;
  /** SHA-256 of its bytes, in lower-case hex. */
  sha256: string;
}>;

/** What an operator agreed to: of an installed skill nothing else is loaded, read or run (D6). */
export type Pin = Readonly<{
  name: string;
  /** Where it was fetched from, as `skillet skill sources` shows it. */
  source: string;
  /** Absent where the source is a plain folder. */
  commit?: string;
  files: readonly PinnedFile[];
}>;

/** A skill, parsed once and frozen. Its body is read at the time of use (F7). */
export type Skill = Readonly<{
  name: string;
  description: string;
  origin: Origin;
  /** Absolute path of the SKILL.md or flat file. */
  path: string;
  /** Absolute path of the skill's folder; absent for a flat file. */
  directory?: string;
  /** Absolute path of the root it was found in: nothing of it is read from outside (D5). Absent where it came from no folder. */
  root?: string;
  /** Of an installed skill (D6). */
  pin?: Pin;
  license?: string;
  compatibility?: string;
  metadata: Readonly<Record<string, string>>;
  /** Keys of its front matter that mean nothing here, as text. */
  others: Readonly<Record<string, string>>;
  version?: string;
  tags: readonly string[];
  authors: readonly string[];
  rationale?: string;
  /** Absent or empty: every tool the host grants a run (T5). */
  allowedTools?: readonly string[];
  env: readonly string[];
  packages: readonly string[];
  /** Programs that have to be there, by the names they are called by: `requires.bins` of public skills. */
  programs: readonly string[];
  /** How it says that a program is installed, by the program's name. */
  installs: Readonly<Record<string, string>>;
  /** Packages of PyPI that it says its scripts import. */
  python: readonly string[];
  capabilities: readonly string[];
  network: readonly string[];
  access: SkillAccess;
  model?: string;
  /** Model calls in one run. */
  maxIterations: number;
  timeoutSeconds: number;
  context: 'fork' | 'inline';
  background: boolean;
  /** Run profile (U11). */
  agent: string;
  argumentHint?: string;
  /** Definitions of the same name that this one replaces, nearest first. */
  shadows: readonly Readonly<{ origin: Origin; path: string }>[];
  diagnostics: readonly Diagnostic[];
}>;

type SkillStatus = 'ok' | 'partial' | 'error' | 'running' | 'needs_input';

/** What a run gives back: data, never a message to a person (U4). */
export type SkillResult = Readonly<{
  status: SkillStatus;
  code?: ErrorCode;
  text: string;
  /** Model calls made. */
  iterations: number;
  durationMs: number;
  tokens: Tokens;
  /** Files that went to the conversation already (T12). */
  artifacts: readonly DeliveredFile[];
  /** With `needs_input`, where `text` is the question: what the run is gone on with by (U14). */
  resume?: string;
  /** It holds what a sensitive skill or a capability gave (S7). */
  marks?: Taint;
  /** The text was cut at 30,000 characters. */
  truncated: boolean;
}>;

import type { Diagnostic, ErrorCode } from './codes.ts';
import type { ChatType } from './conversation.ts';
import type { Tokens } from './model.ts';
import type { Taint } from './entry.ts';
import type { DeliveredFile } from './tool.ts';

/** Bytes of instructions and of each file that tools read of a skill, unless `[skills] max_bytes` is set (F7, R4). */
export const bytesRead = 200_000;
/** The highest `max_bytes`. */
export const mostBytes = 1_000_000;

/** Later ones override earlier ones (D1). */
export const origins = ['bundled', 'integration', 'installed', 'user', 'workspace'] as const;
export type Origin = (typeof origins)[number];

/** The stricter of its own and shadowed definitions (D3). */
export type SkillAccess = Readonly<{
  chatTypes: readonly ChatType[];
  sensitive: boolean;
  optIn: boolean;
  /** False: nobody enabled these very files (D9). */
  approved: boolean;
  disableModelInvocation: boolean;
  userInvocable: boolean;
  why: readonly string[];
}>;

export type PinnedFile = Readonly<{
  path: string;
  sha256: string;
}>;

/** Only these files of an installed skill are used (D6). */
export type Pin = Readonly<{
  name: string;
  source: string;
  commit?: string;
  files: readonly PinnedFile[];
}>;

/** Frozen. The body is read when used (F7). */
export type Skill = Readonly<{
  name: string;
  description: string;
  origin: Origin;
  path: string;
  directory?: string;
  root?: string;
  pin?: Pin;
  license?: string;
  compatibility?: string;
  metadata: Readonly<Record<string, string>>;
  others: Readonly<Record<string, string>>;
  version?: string;
  tags: readonly string[];
  authors: readonly string[];
  rationale?: string;
  /** Absent or empty: every tool (T5). */
  allowedTools?: readonly string[];
  /** Never given to it or while it is followed, whatever the list above says (F11). */
  disallowedTools?: readonly string[];
  /** When to start it, for the model; follows the description (F11). */
  whenToUse?: string;
  env: readonly string[];
  packages: readonly string[];
  /** `requires.bins` */
  programs: readonly string[];
  installs: Readonly<Record<string, string>>;
  python: readonly string[];
  capabilities: readonly string[];
  network: readonly string[];
  access: SkillAccess;
  model?: string;
  maxIterations: number;
  timeoutSeconds: number;
  context: 'fork' | 'inline';
  background: boolean;
  agent: string;
  argumentHint?: string;
  shadows: readonly Readonly<{ origin: Origin; path: string }>[];
  diagnostics: readonly Diagnostic[];
}>;

/** NFKC, lower-case letters and digits of any script, joined by single `-`. May be empty. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
}

/** The skill of that name in any spelling: menus of platforms write `pdf_editing` for `pdf-editing`. */
export function skillNamed<Of extends Pick<Skill, 'name'>>(
  skills: readonly Of[],
  written: string,
): Of | undefined {
  const slug = slugOf(written);
  return skills.find(({ name }) => name === written) ?? skills.find(({ name }) => name === slug);
}

type SkillStatus = 'ok' | 'partial' | 'error' | 'running' | 'needs_input';

/** Data, never sent to a person (U4). */
export type SkillResult = Readonly<{
  status: SkillStatus;
  code?: ErrorCode;
  text: string;
  iterations: number;
  durationMs: number;
  tokens: Tokens;
  artifacts: readonly DeliveredFile[];
  /** With `needs_input`, by which the run continues (U14). */
  resume?: string;
  /** What makes its words private (S7). */
  marks?: Taint;
  truncated: boolean;
}>;

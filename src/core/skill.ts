import type { Effort } from './claude-models.ts';
import type { Diagnostic, ErrorCode } from './codes.ts';
import type { ChatType } from './conversation.ts';
import type { Tokens } from './model.ts';
import type { Taint } from './entry.ts';
import type { DeliveredFile } from './tool.ts';

/**
 * Most bytes of instructions, and of each file of a skill that tools read, unless `[skills] max_bytes` is set (F7, R4).
 */
export const bytesRead = 200_000;
/** The highest value that `max_bytes` may have. */
export const mostBytes = 1_000_000;

/** Where skills come from. A later origin overrides an earlier one (D1). */
export const origins = ['bundled', 'integration', 'installed', 'user', 'agents', 'workspace'] as const;
export type SkillOrigin = (typeof origins)[number];

/** Who may use a skill: the stricter of its own rules and those of definitions that it hides (D3). */
export type SkillAccess = Readonly<{
  chatTypes: readonly ChatType[];
  sensitive: boolean;
  optIn: boolean;
  /** False if nobody enabled these very files (D9). */
  approved: boolean;
  disableModelInvocation: boolean;
  userInvocable: boolean;
  why: readonly string[];
}>;

export type PinnedFile = Readonly<{
  path: string;
  sha256: string;
}>;

/** The files of an installed skill by their hashes. No other files of it are used (D6). */
export type Pin = Readonly<{
  name: string;
  source: string;
  commit?: string;
  files: readonly PinnedFile[];
}>;

/** Where the files of a skill are. */
export type SkillFolder = Readonly<{
  /** The skill's folder. Undefined for a flat file. */
  directory?: string;
  /** Set for installed skills: no other version may replace the files (D6). */
  pin?: Pin;
}>;

/** A loaded skill, which never changes. Its instructions are read when they are used (F7). */
export type Skill = SkillFolder &
  Readonly<{
    name: string;
    description: string;
    origin: SkillOrigin;
    path: string;
    root?: string;
    license?: string;
    compatibility?: string;
    metadata: Readonly<Record<string, string>>;
    others: Readonly<Record<string, string>>;
    version?: string;
    tags: readonly string[];
    authors: readonly string[];
    rationale?: string;
    /** The tools it may use; undefined or empty allows every tool (T5). */
    allowedTools?: readonly string[];
    /** Tools that are never available in it, whatever `allowedTools` says (F11). */
    disallowedTools?: readonly string[];
    /** When the model should start it; appended to the description (F11). */
    whenToUse?: string;
    env: readonly string[];
    packages: readonly string[];
    /** Programs that it needs, as listed in `requires.bins`. */
    programs: readonly string[];
    installs: Readonly<Record<string, string>>;
    python: readonly string[];
    capabilities: readonly string[];
    network: readonly string[];
    access: SkillAccess;
    model?: string;
    maxIterations: number;
    /** How hard the model should think in its runs (M16). Undefined: as the alias says. */
    effort?: Effort;
    timeoutSeconds: number;
    context: 'fork' | 'inline';
    background: boolean;
    agent: string;
    argumentHint?: string;
    shadows: readonly Readonly<{ origin: SkillOrigin; path: string }>[];
    diagnostics: readonly Diagnostic[];
  }>;

/**
 * The name of a skill in one spelling: NFKC, lower-case letters and digits of any script, joined by single `-`. It may
 * be empty.
 */
export function slugOf(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
}

/** Finds the skill of that name in any spelling, because menus of platforms write `pdf_editing` for `pdf-editing`. */
export function skillNamed<Of extends Pick<Skill, 'name'>>(
  skills: readonly Of[],
  written: string,
): Of | undefined {
  const slug = slugOf(written);
  return skills.find(({ name }) => name === written) ?? skills.find(({ name }) => name === slug);
}

type SkillStatus = 'ok' | 'partial' | 'error' | 'running' | 'needs_input';

/** How a run ended. It is data for the agent and never sent to a person as it is (U4). */
export type SkillResult = Readonly<{
  status: SkillStatus;
  code?: ErrorCode;
  text: string;
  iterations: number;
  durationMs: number;
  tokens: Tokens;
  artifacts: readonly DeliveredFile[];
  /** With `needs_input`: the id by which the run continues (U14). */
  resume?: string;
  /** Set if its words are private, with where they are from (S7). */
  taint?: Taint;
  truncated: boolean;
}>;

import type { Diagnostic } from '../../core/codes.ts';
import type { ChatType } from '../../core/conversation.ts';
import type { Origin, Skill } from '../../core/skill.ts';

/** Names are at most this many code points (F6). */
export const nameLimit = 64;

/** What a definition itself says of access, before those it shadows are heard (D3). */
export type OwnAccess = Readonly<{
  /** Absent: not given, so A2's default applies. */
  chatTypes?: readonly ChatType[];
  sensitive: boolean;
  optIn: boolean;
  disableModelInvocation: boolean;
  userInvocable: boolean;
}>;

/** What one file says of a skill: everything of a `Skill` that needs no other file. */
export type Definition = Readonly<
  Omit<Skill, 'access' | 'shadows'> & {
    access: OwnAccess;
    /** A flat file yields to a folder of the same name (D2). */
    flat: boolean;
  }
>;

/** A skill file as it was found. */
export type SkillSource = Readonly<{
  /** Absolute path of the file. */
  path: string;
  /** Absolute path of the skill's folder; absent for a flat file. */
  directory?: string;
  origin: Origin;
  /** Absolute path of the root it lies in. */
  root?: string;
  /** The file, or its first part. */
  bytes: Uint8Array;
  /** More bytes follow. */
  cut: boolean;
}>;

export type ParseResult =
  | Readonly<{ ok: true; definition: Definition }>
  | Readonly<{
      ok: false;
      diagnostics: readonly Diagnostic[];
      /** The name it would have, as far as that could be read. */
      name: string;
      /** What broke grants or restricts something: no older version may stand in (D7). */
      accessBroken: boolean;
    }>;

/** The id a name stands for: NFKC, lower-case letters and digits of any script with single `-` between them. May be empty. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
}

/** What the specification has against a name, one sentence each; `directory` must be the same after NFKC (F6). */
export function nameProblems(written: string, directory: string | undefined): readonly string[] {
  const name = written.normalize('NFKC');
  const length = [...name].length;
  const problems: string[] = [];
  if (length > nameLimit) problems.push(`"${name}" has ${length} characters; at most ${nameLimit}`);
  if (name !== name.toLowerCase()) problems.push(`"${name}" has upper-case letters; use lower case`);
  if (/^-|-$/.test(name)) problems.push(`"${name}" begins or ends with "-"`);
  if (name.includes('--')) problems.push(`"${name}" has "--"; use a single "-"`);
  if (!/^[\p{L}\p{N}-]*$/u.test(name)) problems.push(`"${name}" may hold letters, digits and "-" only`);
  if (directory !== undefined && directory.normalize('NFKC') !== name)
    problems.push(`"${name}" must be the folder's name, "${directory}"`);
  return problems;
}

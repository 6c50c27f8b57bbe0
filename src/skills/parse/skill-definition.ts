import type { ChatType } from '../../core/conversation.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import type { Origin, Skill } from '../../core/skill.ts';

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

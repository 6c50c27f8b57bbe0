import type { Diagnostic } from '../core/diagnostic.ts';
import type { Pin } from '../core/skill.ts';
import type { ReadFileResult } from './read-skill-file.ts';

/** A skill file that a store holds. */
export type StoredSkill = Readonly<{
  /** Identity of the file: its absolute path where it is one. */
  path: string;
  /** Identity of the skill's folder; absent for a flat file. */
  directory?: string;
  /** Changes whenever the file's bytes may have. */
  stamp: string;
  /** What was agreed to of it: no other version of the file may stand in for it, and its name is known without it (D6). */
  pin?: Pin;
  /** What is noteworthy about where and how it lies. */
  diagnostics: readonly Diagnostic[];
}>;

export type StoredBytes =
  | Readonly<{
      ok: true;
      bytes: Uint8Array;
      /** More bytes follow. */ cut: boolean;
      /** Of these very bytes. */ stamp: string;
    }>
  | Readonly<{ ok: false; diagnostic: Diagnostic }>;

/** A place skills are kept in (D8). One real implementation: a folder, `fileSkillStore`. */
export type SkillStore = Readonly<{
  /** Every skill file, in path order, with what was refused or left out. An absent place holds none. */
  list(): Promise<Readonly<{ skills: readonly StoredSkill[]; diagnostics: readonly Diagnostic[] }>>;
  /** The first `limit` bytes of a skill file. Gone or unreadable is a value. */
  load(skill: StoredSkill, limit: number): Promise<StoredBytes>;
  /** One text file of a skill, by a path inside its folder (R4). */
  readFile(skill: StoredSkill, path: string): Promise<ReadFileResult>;
  /** Folders in which a change may change what `list` or `load` says; none where nothing can be watched. */
  folders(): readonly string[];
}>;

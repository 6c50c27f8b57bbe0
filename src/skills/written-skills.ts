import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { Skill } from '../core/skill.ts';
import type { Store } from '../store/store.ts';
import { hashSkill } from './install/hash-skill.ts';

const shape = z.object({
  name: z.string(),
  hashes: z.array(z.string()),
  by: z.string(),
  at: z.number(),
  approved: z.string().optional(),
});

/** What is kept of a skill that the bot wrote (D9). */
export type WrittenSkill = Readonly<{
  /** Its name, and its folder's in the workspace's skills. */
  name: string;
  /** Hashes of what the bot wrote there, the newest first: anything else was changed by another hand. */
  hashes: readonly string[];
  /** SHA-256 of the id of the person who asked for it. */
  by: string;
  /** When it was written; names its question to the owners. */
  at: number;
  /** Hash of the files that somebody answerable enabled. */
  approved?: string | undefined;
}>;

/** The records of skills that the bot wrote. Every call rejects where the store can't be read. */
export type WrittenSkills = Readonly<{
  all(): Promise<ReadonlyMap<string, WrittenSkill>>;
  get(name: string): Promise<WrittenSkill | undefined>;
  set(record: WrittenSkill): Promise<void>;
  delete(name: string): Promise<boolean>;
}>;

/** A file that the bot puts into each skill it writes: without its record it is still known. */
export const marker = '.written-by-the-bot';

/** Tells of a skill file whether it may be in force, as far as the bot wrote it. */
export type IsApproved = (skill: Pick<Skill, 'origin' | 'directory'>) => boolean;

/** Keeps them under their names. A record that can't be understood approves nothing. */
export function createWrittenSkills(store: Pick<Store, 'keyed'>): WrittenSkills {
  const stored = store.keyed('written-skills');
  return {
    async all() {
      const found = new Map<string, WrittenSkill>();
      for await (const [key, value] of stored.iterator()) found.set(String(key), read(String(key), value));
      return found;
    },
    async get(name) {
      const value = await stored.get<unknown>(name);
      return value === undefined ? undefined : read(name, value);
    },
    async set(record) {
      await stored.set(record.name, record);
    },
    delete: (name) => stored.delete(name),
  };
}

function read(name: string, value: unknown): WrittenSkill {
  const parsed = shape.safeParse(value);
  return parsed.success ? parsed.data : { name, hashes: [], by: '', at: 0 };
}

/**
 * Judges skills of the workspace `root` by what the store holds now: what the bot wrote is approved as long as its files
 * are those that were enabled, what another hand wrote always. Rejects where the store can't be read: nobody knows then.
 */
export async function readApprovals(written: Pick<WrittenSkills, 'all'>, root: string): Promise<IsApproved> {
  const records = await written.all();
  return ({ origin, directory }) => {
    if (origin !== 'workspace' || directory === undefined) return true;
    const record = dirname(directory) === root ? records.get(basename(directory)) : undefined;
    if (record === undefined && !existsSync(join(directory, marker))) return true;
    return record?.approved !== undefined && hashSkill(directory)?.hash === record.approved;
  };
}

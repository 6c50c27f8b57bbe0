import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { chatTypes } from '../core/conversation.ts';
import type { Actor } from '../core/message.ts';
import { storedOrigin, type WordOrigin } from '../core/provenance.ts';
import type { Skill } from '../core/skill.ts';
import type { Store } from '../store/store.ts';
import { storedConversation, storedSender } from '../store/stored-message.ts';
import { hashSkill } from './install/hash-skill.ts';
import { marker } from './written-marker.ts';

const shape = z.object({
  name: z.string(),
  hashes: z.array(z.string()),
  by: z.string(),
  at: z.number(),
  approved: z.string().optional(),
  from: storedOrigin.optional(),
});

const storedAsker = z.object({
  conversation: storedConversation,
  chatType: z.enum([...chatTypes, 'unknown']),
  external: z.boolean(),
  sender: storedSender,
});

/** The record of a skill that the bot wrote (D9). */
export type WrittenSkill = Readonly<{
  name: string;
  /** Hashes of its versions, newest first. Other content was changed by hand. */
  hashes: readonly string[];
  /** SHA-256 of the id of the person who asked for it. */
  by: string;
  /** Unix milliseconds. They are also part of the name of the question to the owners. */
  at: number;
  approved?: string | undefined;
  /**
   * Whose words the skill consists of. It has nothing private in it, because a tainted conversation writes no skill
   * (S13, S14).
   */
  from?: WordOrigin;
}>;

/** Records of skills that the bot wrote. Every call rejects if the store can't be read. */
export type WrittenSkills = Readonly<{
  all(): Promise<ReadonlyMap<string, WrittenSkill>>;
  get(name: string): Promise<WrittenSkill | undefined>;
  set(record: WrittenSkill): Promise<void>;
  delete(name: string): Promise<boolean>;
  /** Afterwards `root` has the newest versions of other processes, and the store has those of this one (Q14). */
  bring(root: string): Promise<void>;
  /** Kept apart from the records, because those name nobody. */
  askers: Readonly<{
    set(name: string, asker: Actor): Promise<void>;
    /** Returns who waits, and forgets them. */
    take(name: string): Promise<Actor | undefined>;
    forget(sender: string): Promise<void>;
  }>;
}>;

/** After this time nobody waits for it to be enabled. */
const askersMs = 90 * 86_400_000;

/** False if the bot wrote the skill and nobody has enabled it. */
export type IsApproved = (skill: Pick<Skill, 'origin' | 'directory'>) => boolean;

/** Keeps the records in the store. A record that can't be read approves nothing. */
export function createWrittenSkills(store: Store): WrittenSkills {
  const stored = store.keyed('written-skills');
  const askers = store.keyed('skill-askers');

  async function all(): Promise<ReadonlyMap<string, WrittenSkill>> {
    const found = new Map<string, WrittenSkill>();
    for await (const [key, value] of stored.iterator()) found.set(String(key), read(String(key), value));
    return found;
  }

  return {
    all,
    async bring(root) {
      const files = store.files();
      if (files === undefined) return;
      const { bringWritten } = await import('./bring-written.ts');
      await bringWritten(root, all, files);
    },
    async get(name) {
      const value = await stored.get<unknown>(name);
      return value === undefined ? undefined : read(name, value);
    },
    async set(record) {
      await stored.set(record.name, record);
    },
    delete: (name) => stored.delete(name),
    askers: {
      async set(name, asker) {
        await askers.set(name, asker, askersMs);
      },
      async take(name) {
        const read = storedAsker.safeParse(await askers.get<unknown>(name));
        await askers.delete(name);
        return read.data;
      },
      async forget(sender) {
        for await (const [name, value] of askers.iterator())
          if (storedAsker.safeParse(value).data?.sender.id === sender) await askers.delete(String(name));
      },
    },
  };
}

function read(name: string, value: unknown): WrittenSkill {
  const parsed = shape.safeParse(value);
  return parsed.success ? parsed.data : { name, hashes: [], by: '', at: 0 };
}

/**
 * Files of the bot are approved as long as they are those that were enabled; files written by hand always are. Rejects
 * if the store can't be read.
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

/**
 * A function that returns a skill with its approval as it is now, because a change of its files may have undone it.
 * Rejects if the store can't be read.
 */
export function createAsItStands(written: WrittenSkills, root: string): (skill: Skill) => Promise<Skill> {
  return async (skill) => {
    if (skill.origin !== 'workspace' || !skill.access.approved) return skill;
    const isApproved = await readApprovals(written, root);
    return isApproved(skill) ? skill : { ...skill, access: { ...skill.access, approved: false } };
  };
}

import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { chatTypes } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import { storedOrigin, type Origin } from '../core/provenance.ts';
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

/** Of a skill that the bot wrote (D9). */
export type WrittenSkill = Readonly<{
  name: string;
  /** Newest first; other content was changed by hand. */
  hashes: readonly string[];
  /** SHA-256 of the requester's id. */
  by: string;
  /** Also names its question to the owners. */
  at: number;
  approved?: string | undefined;
  /** Whose words it has. It holds nothing private: a marked conversation writes no skill (S13, S14). */
  from?: Origin;
}>;

/** Who waits to hear that a skill is enabled. */
export type SkillAsker = Pick<Message, 'conversation' | 'chatType' | 'external' | 'sender'>;

/** Every call rejects if the store can't be read. */
export type WrittenSkills = Readonly<{
  all(): Promise<ReadonlyMap<string, WrittenSkill>>;
  get(name: string): Promise<WrittenSkill | undefined>;
  set(record: WrittenSkill): Promise<void>;
  delete(name: string): Promise<boolean>;
  /** Other processes' newest versions are in `root` afterwards, and this one's in the store (Q14). */
  bring(root: string): Promise<void>;
  /** Apart from the records, which name nobody. */
  askers: Readonly<{
    set(name: string, asker: SkillAsker): Promise<void>;
    /** Once. */
    take(name: string): Promise<SkillAsker | undefined>;
    forget(sender: string): Promise<void>;
  }>;
}>;

/** Then nobody waits for it any more. */
const askersMs = 90 * 86_400_000;

/** False: written by the bot and not enabled. */
export type IsApproved = (skill: Pick<Skill, 'origin' | 'directory'>) => boolean;

/** An unreadable record approves nothing. */
export function createWrittenSkills(store: Pick<Store, 'keyed' | 'files'>): WrittenSkills {
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

/** The bot's files are approved while they are those enabled; files by hand always. Rejects if the store can't be read. */
export async function readApprovals(written: Pick<WrittenSkills, 'all'>, root: string): Promise<IsApproved> {
  const records = await written.all();
  return ({ origin, directory }) => {
    if (origin !== 'workspace' || directory === undefined) return true;
    const record = dirname(directory) === root ? records.get(basename(directory)) : undefined;
    if (record === undefined && !existsSync(join(directory, marker))) return true;
    return record?.approved !== undefined && hashSkill(directory)?.hash === record.approved;
  };
}

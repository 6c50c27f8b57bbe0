import { existsSync } from 'node:fs';
import path from 'node:path';
import { slugOf } from '../../core/skill.ts';
import type { Log } from '../../lib/log.ts';
import { hashSkill } from '../../skills/install/hash-skill.ts';
import { dropReplaced, removeWritten } from '../../skills/prepare-draft.ts';
import type { WrittenSkill, WrittenSkills } from '../../skills/written-skills.ts';
import { marker } from '../../skills/written-marker.ts';
import type { Actor } from '../../core/message.ts';

export type ApprovalOutcome = Readonly<{
  outcome: 'enabled' | 'discarded' | 'restored' | 'unknown' | 'changed';
  name: string;
  hash?: string;
}>;

/** Enables and discards skills that the bot wrote (D9). Callers check who may decide. */
export type SkillApprovals = Readonly<{
  records(): Promise<readonly WrittenSkill[]>;
  /** Enables a skill. With `version`, only if its files are unchanged. */
  enable(name: string, version?: string, by?: string): Promise<ApprovalOutcome>;
  /** Discards a skill. `restored`: the version before is back. `changed`: it was edited by hand, so its files stay. */
  discard(name: string, version?: string): Promise<ApprovalOutcome>;
  nameOf(version: string): Promise<string | undefined>;
  /** Removes a person from those who wait to hear that a skill is enabled (Q12). */
  forget(sender: string): Promise<void>;
}>;

/**
 * Tells the person who asked for a skill that it is enabled. `by` is who enabled it; undefined for the command line.
 */
export type TellAsker = (
  of: Pick<WrittenSkill, 'name' | 'at'> & Readonly<{ asker: Actor }>,
  by: string | undefined,
) => Promise<void>;

/** A short name for a version, which fits into a button and is still unique. */
export function versionOf(hash: string): string {
  return hash.slice(0, 32);
}

type Deps = Readonly<{
  root: string;
  written: WrittenSkills;
  /** Called after each change, to read the skills again. */
  onChange(): Promise<unknown>;
  /** Undefined while no bot runs. */
  tellAsker?: TellAsker;
  log: Log;
}>;

export function createSkillApprovals({ root, written, onChange, tellAsker, log }: Deps): SkillApprovals {
  const hashOf = (name: string): string | undefined => hashSkill(path.join(root, name))?.hash;

  async function judge(
    asked: string,
    version: string | undefined,
    act: (record: WrittenSkill, hash: string) => Promise<ApprovalOutcome['outcome']>,
  ): Promise<ApprovalOutcome> {
    if (asked !== path.basename(asked) || asked.startsWith('.')) return { outcome: 'unknown', name: asked };
    const name = hashOf(asked) === undefined ? slugOf(asked) : asked;
    if (name === '') return { outcome: 'unknown', name: asked };
    await written.bring(root);
    const record = (await written.get(name)) ?? withoutRecord(root, name);
    const hash = hashOf(name);
    if (record === undefined || hash === undefined) return { outcome: 'unknown', name };
    if (version !== undefined && versionOf(hash) !== version) return { outcome: 'changed', name, hash };
    const outcome = await act(record, hash);
    if (outcome !== 'changed') await onChange();
    log.info({ skill: name, hash, outcome }, 'somebody decided on a skill that the bot wrote');
    return { outcome, name, hash };
  }

  return {
    records: async () => [...(await written.all()).values()],
    async enable(asked, version, by) {
      let of: WrittenSkill | undefined;
      const decided = await judge(asked, version, async (record, hash) => {
        of = record;
        await written.set({ ...record, approved: hash });
        await dropReplaced(root, record.name);
        return 'enabled';
      });
      const asker = of && (await written.askers.take(of.name));
      if (of !== undefined && asker !== undefined) await tellAsker?.({ ...of, asker }, by);
      return decided;
    },
    discard: (name, version) =>
      judge(name, version, async (record, hash) => {
        if (!record.hashes.includes(hash)) return 'changed';
        const before = record.approved === hash ? undefined : record.approved;
        const restored = await removeWritten(root, name, before);
        const back = hashOf(name);
        if (restored && back !== undefined) await written.set({ ...record, hashes: [back] });
        else await written.delete(name);
        return restored ? 'restored' : 'discarded';
      }),
    async nameOf(version) {
      const records = [...(await written.all()).values()];
      return records.find(({ hashes }) => hashes.some((hash) => versionOf(hash) === version))?.name;
    },
    forget: written.askers.forget,
  };
}

/** The record of a skill whose folder is marked although its own record is lost. */
function withoutRecord(root: string, name: string): WrittenSkill | undefined {
  return existsSync(path.join(root, name, marker)) ? { name, hashes: [], by: '', at: 0 } : undefined;
}

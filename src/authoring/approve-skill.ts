import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Log } from '../lib/log.ts';
import { hashSkill } from '../skills/install/hash-skill.ts';
import { dropReplaced, removeWritten } from '../skills/prepare-draft.ts';
import { marker, type WrittenSkill, type WrittenSkills } from '../skills/written-skills.ts';

/** What became of a decision over a skill that the bot wrote. */
export type ApprovalOutcome = Readonly<{
  outcome: 'enabled' | 'discarded' | 'restored' | 'unknown' | 'changed';
  name: string;
  hash?: string;
}>;

/** Decides over skills that the bot wrote (D9). Who may is judged by who calls. */
export type SkillApprovals = Readonly<{
  /** What is kept of each. */
  records(): Promise<readonly WrittenSkill[]>;
  /** Enables the files that lie there now; with `version` only if they still are those. */
  enable(name: string, version?: string): Promise<ApprovalOutcome>;
  /** Takes them away; the version that was in force before comes back (`restored`). Files that another hand changed stay (`changed`). */
  discard(name: string, version?: string): Promise<ApprovalOutcome>;
  /** The skill that a version's short name stands for. */
  nameOf(version: string): Promise<string | undefined>;
}>;

/** A version as a button carries it: enough of the hash that nobody makes another one. */
export function versionOf(hash: string): string {
  return hash.slice(0, 32);
}

/** `onChange` is told after each decision that changed anything, so that the skills are read again. */
export function createSkillApprovals(options: {
  root: string;
  written: WrittenSkills;
  onChange(): Promise<unknown>;
  log: Log;
}): SkillApprovals {
  const { root, written, onChange, log } = options;
  const hashOf = (name: string): string | undefined => hashSkill(path.join(root, name))?.hash;

  async function judge(
    name: string,
    version: string | undefined,
    act: (record: WrittenSkill, hash: string) => Promise<ApprovalOutcome['outcome']>,
  ): Promise<ApprovalOutcome> {
    if (name !== path.basename(name) || name.startsWith('.')) return { outcome: 'unknown', name };
    const record = (await written.get(name)) ?? withoutRecord(root, name);
    const hash = hashOf(name);
    if (record === undefined || hash === undefined) return { outcome: 'unknown', name };
    if (version !== undefined && versionOf(hash) !== version) return { outcome: 'changed', name, hash };
    const outcome = await act(record, hash);
    if (outcome !== 'changed') await onChange();
    log.info({ skill: name, hash, outcome }, 'it was decided over a skill that the bot wrote');
    return { outcome, name, hash };
  }

  return {
    records: async () => [...(await written.all()).values()],
    enable: (name, version) =>
      judge(name, version, async (record, hash) => {
        await written.set({ ...record, approved: hash });
        await dropReplaced(root, name);
        return 'enabled';
      }),
    discard: (name, version) =>
      judge(name, version, async (record, hash) => {
        if (!record.hashes.includes(hash)) return 'changed';
        const restored = await removeWritten(
          root,
          name,
          record.approved === hash ? undefined : record.approved,
        );
        const back = hashOf(name);
        if (restored && back !== undefined) await written.set({ ...record, hashes: [back] });
        else await written.delete(name);
        return restored ? 'restored' : 'discarded';
      }),
    async nameOf(version) {
      const records = [...(await written.all()).values()];
      return records.find(({ hashes }) => hashes.some((hash) => versionOf(hash) === version))?.name;
    },
  };
}

/** Its record was lost, with a store perhaps: its folder still says who wrote it. */
function withoutRecord(root: string, name: string): WrittenSkill | undefined {
  return existsSync(path.join(root, name, marker)) ? { name, hashes: [], by: '', at: 0 } : undefined;
}

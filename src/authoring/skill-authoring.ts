import { listsId } from '../access/chat-id.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Skill } from '../core/skill.ts';
import type { SkillLibrary } from '../skills/skill-library.ts';
import { createWrittenSkills, readApprovals } from '../skills/written-skills.ts';
import type { Store } from '../store/store.ts';
import type { SkillWriting } from './skill-write.ts';
import { createSkillApprovals, type SkillApprovals } from './approve-skill.ts';
import { createAskAboutSkill } from './ask-about-skill.ts';
import type { Live } from '../config/runtime-config.ts';
import { writtenRoot } from '../skills/open-library.ts';
import type { People } from '../access/users.ts';
import type { Voice } from '../replies/replies.ts';
import { createWriteSkill } from './write-skill.ts';

/** Skills that the bot writes, from the tool to the yes (D9). */
export type SkillAuthoring = Readonly<{
  writing: SkillWriting;
  approvals: SkillApprovals;
  /** Owners and `[policy] approvers`. */
  mayApprove(sender: string): Promise<boolean>;
  /** The skill as a decision has to see it now: a change since it was read may have undone its approval. Rejects where the store can't be read. */
  asItStands(skill: Skill): Promise<Skill>;
}>;

/** Puts the parts together for one bot. */
export function createSkillAuthoring(options: {
  store: Pick<Store, 'keyed' | 'commit'>;
  live: () => Live;
  library: Pick<SkillLibrary, 'rescan'>;
  people: Pick<People, 'isOwner'>;
  voice: Voice;
  /** Names of tools that are not built in. */
  otherTools(): readonly string[];
  clock: Clock;
  log: Log;
}): SkillAuthoring {
  const { store, live, library, people, voice, otherTools, clock, log } = options;
  const { rescan } = library;
  const written = createWrittenSkills(store);
  const root = writtenRoot(live().config);
  const approvers = (): readonly string[] => live().config.policy.approvers;
  const mayApprove = async (sender: string): Promise<boolean> =>
    (await people.isOwner(sender)) || listsId(approvers(), sender);
  const given = (name: string): readonly string[] =>
    Object.keys(live().config.skills.byName[name]?.env ?? {});
  const ask = createAskAboutSkill({ root, store, voice, mayApprove, approvers, given });
  return {
    writing: createWriteSkill({ root, written, rescan, mayApprove, ask, otherTools, clock, log }),
    approvals: createSkillApprovals({ root, written, onChange: rescan, log }),
    mayApprove,
    async asItStands(skill) {
      if (skill.origin !== 'workspace' || !skill.access.approved) return skill;
      const isApproved = await readApprovals(written, root);
      return isApproved(skill) ? skill : { ...skill, access: { ...skill.access, approved: false } };
    },
  };
}

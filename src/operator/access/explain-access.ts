import type { Config } from '../../config/complete-config.ts';
import { accessSettings, skillRules } from '../../config/runtime-config.ts';
import { OperatorError } from '../../core/errors.ts';
import type { Skill } from '../../core/skill.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { openStore } from '../../store/open-store.ts';
import { chatIdOf } from '../../core/conversation.ts';
import { createAudit } from '../../audit/create-audit.ts';
import { auditPlace } from '../../audit/audit-files.ts';
import { createPeople } from '../operate.ts';
import { explainSkill } from './explain-skill.ts';
import { explainTalk } from './explain-talk.ts';
import { toMessage, type AccessQuestion } from './question.ts';
import { createRuleAt, type Ruling } from './ruling.ts';

/** What a store knows of people, as `pair list` shows it. */
export type KnownPeople = Readonly<{
  owners: readonly string[];
  paired: readonly Readonly<{ sender: string; name: string }>[];
  groups: readonly Readonly<{ id: string; name: string }>[];
}>;

export const nobodyKnown: KnownPeople = { owners: [], paired: [], groups: [] };

export type Explanation = Readonly<{
  talk: Ruling;
  /** Of the skill that was asked about, or of all. Using one takes talking, too. */
  skills: readonly Readonly<{ name: string; ruling: Ruling }>[];
}>;

export type ExplainAccess = (question: AccessQuestion) => Promise<Explanation>;

/** The gates of a bot over a store in memory, which holds these people and ends with it. */
export async function openGates(
  config: Config,
  { skills, people, log }: Readonly<{ skills: readonly Skill[]; people: KnownPeople; log: Log }>,
): Promise<
  Readonly<{ explain: ExplainAccess; pair(sender: string): Promise<void>; close(): Promise<void> }>
> {
  const clock = systemClock;
  const memory = 'sqlite::memory:';
  const store = await openStore(memory, { log });
  // Nothing is decided for good here, so nothing is recorded.
  const { dataDir } = config.bot;
  const audit = createAudit({ dataDir, place: auditPlace(memory, dataDir), keyed: store.keyed, clock, log });
  const settings = accessSettings(config);
  const { users } = createPeople({ store, audit, clock, log }, { access: () => settings });
  const pair = (sender: string, name = sender): Promise<void> =>
    users.pair({ sender, name, since: clock.now() });
  for (const { sender, name } of people.paired) await pair(sender, name);
  for (const { id, name } of people.groups) await users.allowGroup({ id, name, since: clock.now() });
  for (const owner of people.owners) if (!settings.owners.includes(owner)) await users.addOwner(owner);
  const rules = skillRules(config);
  const ruleAt = createRuleAt(config.path);

  return {
    pair,
    close: store.close,
    async explain(question) {
      const { speaker, use } = toMessage(question);
      const { id } = speaker.sender;
      const [paired, groups] = [await users.paired(), await users.allowedGroups()];
      const stored = {
        owner: await users.isOwner(id),
        paired: paired.some(({ sender }) => sender === id),
        group: groups.some((group) => group.id === chatIdOf(speaker.conversation)),
      };
      const asked =
        question.skill === undefined ? skills : skills.filter(({ name }) => name === question.skill);
      if (question.skill !== undefined && asked.length === 0)
        throw new OperatorError(`There is no skill ${question.skill}: see \`skillet skill list\`.`);
      return {
        talk: explainTalk(await users.decide(speaker), speaker, { settings, stored, ruleAt }),
        skills: asked.map((skill) => ({
          name: skill.name,
          ruling: explainSkill(skill, { rules, use, ruleAt }),
        })),
      };
    },
  };
}

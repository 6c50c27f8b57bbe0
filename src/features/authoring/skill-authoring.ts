import { z } from 'zod';
import { listsId } from '../../access/chat-migrations.ts';
import type { AccessContext } from '../../access/decide-skill.ts';
import type { WriteCommand } from '../../core/channel.ts';
import type { Users } from '../../access/users.ts';
import { createSkillApprovals, type SkillApprovals } from './approve-skill.ts';
import { createAskAboutSkill } from './ask-about-skill.ts';
import { createTellAsker } from './tell-asker.ts';
import { createWriteSkill } from './write-skill.ts';
import type { RuntimeConfig } from '../../config/runtime-config.ts';
import { fail, type Envelope } from '../../core/envelope.ts';
import { sayOrigin, type Provenance, type WhoseWords } from '../../core/provenance.ts';
import { fixed, sayIn } from '../../core/texts/say.ts';
import type { CommandTable } from '../../core/chat-commands.ts';
import { defineTool, readOnly, type CallAssessment, type Requester, type Tool } from '../../core/tool.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Replies } from '../../replies/replies.ts';
import type { SkillDraft } from '../../skills/prepare-draft.ts';
import { writtenRoot } from '../../skills/open-library.ts';
import type { SkillLibrary } from '../../skills/skill-library.ts';
import { createWrittenSkills } from '../../skills/written-skills.ts';
import type { Store } from '../../store/store.ts';
import type { ToolRows, ToolTable } from '../../core/built-in-tools.ts';

/** How people see these tools and who is offered them (T2, T5). */
export const skillWritingRows = {
  skill_write: {
    icon: '✍️',
    title: fixed`Writing skills`,
    says: fixed`Writes a skill, off until somebody enables it.`,
    doing: fixed`writing a skill`,
    risk: 'moderate',
    runs: 'named',
    writes: 'outside',
    lasts: true,
  },
  skill_read: {
    icon: '📄',
    title: fixed`Reading skills`,
    says: fixed`Reads a skill to change it.`,
    doing: fixed`reading a skill`,
    risk: 'safe',
    runs: 'named',
    inner: true,
    writes: 'nothing',
  },
} satisfies ToolRows;

const notAgreed = fail('TOOL_POLICY_DENIED', 'the person has to agree to these words first');

const name = z.string().describe('of the skill: lower-case letters, digits and single hyphens');

const draftInput = z.object({
  name,
  content: z.string().describe('the whole SKILL.md, front matter included'),
  files: z
    .array(
      z.object({
        path: z.string().describe('relative to the skill, such as scripts/run.sh'),
        content: z.string(),
      }),
    )
    .max(100)
    .default([])
    .describe('every other file of the skill, text only'),
});

/** Skills that the bot writes, and who approves them (D9). */
export type SkillAuthoring = Readonly<{
  writing: SkillWriting;
  approvals: SkillApprovals;
  /** Whether this person may enable skills: owners and `[policy] approvers` may. */
  mayApprove(sender: string): Promise<boolean>;
}>;

export function createSkillAuthoring(options: {
  store: Store;
  runtime: () => RuntimeConfig;
  library: SkillLibrary;
  users: Users;
  accessOf: AccessContext;
  writeCommand: WriteCommand;
  replies: Replies;
  /** Names of tools that are not built in. */
  otherTools(): readonly string[];
  chatCommands: CommandTable;
  builtInTools: ToolTable;
  clock: Clock;
  log: Log;
}): SkillAuthoring {
  const { store, runtime, library, users, replies, otherTools, chatCommands, builtInTools, clock, log } =
    options;
  const { rescan } = library;
  const written = createWrittenSkills(store);
  const root = writtenRoot(runtime().config);
  const approvers = (): readonly string[] => runtime().config.policy.approvers;
  const mayApprove = async (sender: string): Promise<boolean> =>
    (await users.isOwner(sender)) || listsId(approvers(), sender);
  const given = (name: string): readonly string[] =>
    Object.keys(runtime().config.skills.byName[name]?.env ?? {});
  const tellAsker = createTellAsker({ ...options, registry: rescan });
  const ask = createAskAboutSkill({ root, store, replies, mayApprove, approvers, given });
  return {
    writing: createWriteSkill({
      root,
      written,
      rescan,
      mayApprove,
      ask,
      otherTools,
      chatCommands,
      builtInTools,
      clock,
      log,
    }),
    approvals: createSkillApprovals({ root, written, onChange: rescan, tellAsker, log }),
    mayApprove,
  };
}

/** Writes and reads skills for a person (D9). */
export type SkillWriting = Readonly<{
  write(draft: SkillDraft, requester: Requester, from: Provenance): Promise<Envelope>;
  /** Reads a file of a skill. Without a path: SKILL.md and the names of the other files. */
  read(name: string, path: string | undefined, requester: Requester): Promise<Envelope>;
}>;

/** The tools that write and read skills. A written skill stays off until somebody enables it. */
export function createSkillWritingTools({ write, read }: SkillWriting, whose: WhoseWords): readonly Tool[] {
  const wordsOf = ({ content, files }: SkillDraft): Promise<Provenance> =>
    whose([content, ...files.map((file) => file.content)].join('\n'));
  const writing = defineTool({
    name: 'skill_write',
    row: skillWritingRows.skill_write,
    description:
      'Writes a skill whole: its SKILL.md and all its other files; what is not given is gone. Checked first, and nothing is ' +
      'written while anything is wrong. It stays off until an owner enables it, who is asked at once.',
    input: draftInput,
    // It has no effect before a person enables the skill.
    traits: { sideEffects: true, idempotent: true, requiresNetwork: false, requiresFilesystem: true },
    risk: 'moderate',
    async run(draft, { requester, agreed }) {
      const from = await wordsOf(draft);
      if (from.words !== 'typed' && agreed === undefined) return notAgreed;
      return write(draft, requester, from);
    },
  });
  return [
    {
      ...writing,
      // A model wrote the text, so what counts is whose words the model has met (S13).
      async assess(input, { requester }): Promise<CallAssessment> {
        const draft = draftInput.parse(input);
        const say = sayIn(requester.language);
        const origin = sayOrigin(await wordsOf(draft), say);
        if (origin === undefined) return {};
        const because = say`Write this skill? From: ${origin}.`;
        return { mustConfirm: { shown: draft, refusedAs: 'TOOL_POLICY_DENIED', because } };
      },
    },
    defineTool({
      name: 'skill_read',
      row: skillWritingRows.skill_read,
      description: 'Reads a skill that was written with skill_write: its SKILL.md, or another file of it.',
      input: z.object({ name, path: z.string().optional().describe('absent: the SKILL.md') }),
      traits: readOnly,
      run: async ({ name: of, path }, { requester }) => read(of, path, requester),
    }),
  ];
}

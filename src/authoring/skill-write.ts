import { z } from 'zod';
import type { Envelope } from '../core/envelope.ts';
import { defineTool, readOnly, type Requester, type Tool } from '../core/tool.ts';
import type { SkillDraft } from '../skills/check-draft.ts';

const name = z.string().describe('of the skill: lower-case letters, digits and single hyphens');

/** Reads and writes skills that the bot made, in the name of a person (D9). */
export type SkillWriting = Readonly<{
  write(draft: SkillDraft, requester: Requester): Promise<Envelope>;
  /** Without a path: the SKILL.md, and the names of the other files. */
  read(name: string, path: string | undefined, requester: Requester): Promise<Envelope>;
}>;

/** `skill_write {name, content, files}` and `skill_read {name, path}`: skills in the workspace, which stay off until somebody answerable enables them. */
export function createSkillWritingTools({ write, read }: SkillWriting): readonly Tool[] {
  return [
    defineTool({
      name: 'skill_write',
      description:
        'Writes a skill whole: its SKILL.md and all its other files; what is not given is gone. Checked first, and nothing is ' +
        'written while anything is wrong. It stays off until an owner enables it, who is asked at once.',
      input: z.object({
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
      }),
      // Nothing comes of it before a person has read it and said yes.
      traits: { sideEffects: true, idempotent: true, requiresNetwork: false, requiresFilesystem: true },
      risk: 'moderate',
      run: async (draft, { requester }) => write(draft, requester),
    }),
    defineTool({
      name: 'skill_read',
      description: 'Reads a skill that was written with skill_write: its SKILL.md, or another file of it.',
      input: z.object({ name, path: z.string().optional().describe('absent: the SKILL.md') }),
      traits: readOnly,
      run: async ({ name: of, path }, { requester }) => read(of, path, requester),
    }),
  ];
}

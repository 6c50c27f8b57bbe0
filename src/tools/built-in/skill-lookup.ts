import { z } from 'zod';
import { fail, succeed, type Envelope } from '../../core/envelope.ts';
import { searchSkills, type SearchMemory } from '../../core/search-skills.ts';
import { skillNamed, type Skill } from '../../core/skill.ts';
import { asTypedHere } from '../../core/skillet-here.ts';
import { prepareTool, readOnly, defineTool, type Tool } from '../../core/tool.ts';
import { escapeLabels } from '../../lib/text/escape-labels.ts';
import { nearest, oneLine } from '../../lib/text/text.ts';
import type { FilledBody } from '../../skills/registry.ts';
import { listSkillFiles, readSkillFile } from '../../skills/skill-files.ts';
import { instructionsLimit, skillInstructions, type ToolRestriction } from '../tool-restriction.ts';
import { offsetInput, pageOf } from './file-tools.ts';
import type { ToolRows } from '../../core/built-in-tools.ts';
import { fixed } from '../../core/texts/say.ts';

/** How people see these tools and who is offered them (T2, T5). */
export const skillLookupRows = {
  skills_list: {
    icon: '📋',
    title: fixed`List of skills`,
    says: fixed`Looks at what skills there are.`,
    doing: fixed`looking for a skill`,
    risk: 'safe',
    main: 'kept',
    ofSkills: true,
    writes: 'nothing',
  },
  skills_search: {
    icon: '🔎',
    title: fixed`Search of skills`,
    says: fixed`Finds a skill for a task.`,
    doing: fixed`looking for a skill`,
    risk: 'safe',
    main: 'kept',
    ofSkills: true,
    writes: 'nothing',
  },
  skills_load: {
    icon: '📖',
    title: fixed`Skill to follow`,
    says: fixed`Follows the instructions of a skill directly.`,
    doing: fixed`reading a skill`,
    risk: 'safe',
    main: 'kept',
    ofSkills: true,
    writes: 'nothing',
  },
  skills_read_file: {
    icon: '📄',
    title: fixed`Files of skills`,
    says: fixed`Reads what belongs to a skill.`,
    doing: fixed`reading a skill`,
    risk: 'safe',
    main: 'kept',
    runs: 'kept',
    ofSkills: true,
    inner: true,
    writes: 'nothing',
  },
} satisfies ToolRows;

const filePath = z.string().describe('relative to the skill, such as references/api.md');

const ownFile = z.object({ path: filePath, offset: offsetInput });

function describeSkill(skill: Skill): Readonly<Record<string, unknown>> {
  const { name, version, description, tags, authors } = skill;
  return {
    name,
    version,
    description,
    tags: tags.length === 0 ? undefined : tags,
    author: authors.length === 0 ? undefined : authors.join(', '),
  };
}

/** The answer for unknown and for hidden skills, which is the same (A11). */
function noSuchSkill(name: string, visible: readonly Skill[]): Envelope {
  const written = JSON.stringify(oneLine(name, 100));
  const names = visible.map((skill) => skill.name);
  const near = nearest(name, names);
  const advice = near.length > 0 ? `. Near: ${near.join(', ')}` : '; skills_list names those there are';
  return fail('SKILL_NOT_FOUND', `there is no skill ${written} here${advice}`);
}

/** `skills_list {}` lists every visible skill (R1). `visible` is asked again at each call. */
export function createSkillsList(): (visible: () => readonly Skill[]) => Tool {
  const make = prepareTool({
    name: 'skills_list',
    row: skillLookupRows.skills_list,
    description: 'Lists the skills available here.',
    input: z.object({}),
    traits: readOnly,
  });
  return (visible) =>
    make(async () => {
      const skills = visible();
      return succeed(skills.length === 0 ? 'No skills are available here.' : skills.map(describeSkill));
    });
}

/** `skills_search {query}` finds skills, best match first (R1, R2). */
export function createSkillsSearch(): (visible: () => readonly Skill[]) => Tool {
  const memory: SearchMemory = new WeakMap();
  const make = prepareTool({
    name: 'skills_search',
    row: skillLookupRows.skills_search,
    description: 'Finds skills by words in their name, description and tags.',
    input: z.object({ query: z.string().min(1).max(500) }),
    traits: readOnly,
  });
  return (visible) =>
    make(async ({ query }) => {
      const found = searchSkills(visible(), query, memory);
      return succeed(found.length === 0 ? 'No skill available here fits.' : found.map(describeSkill));
    });
}

/**
 * `skills_load {skill}` reads a skill's instructions and limits the turn to its tools (R1, R3, T6). Hidden skills look
 * unknown (A11).
 */
export function createSkillsLoad(): (options: {
  /** Finds a skill. An unknown name makes the bot read the skill folders again (D7). */
  find(name: string): Promise<Skill | undefined>;
  visible(): readonly Skill[];
  /** The skill's instructions as its file has them now, without arguments. */
  body(skill: Skill): Promise<FilledBody>;
  /** How many bytes instructions may have (F7). */
  maxBytes(): number;
  pathOf(directory: string): string;
  restriction: ToolRestriction;
  /** True if results of the skill are private (S7). */
  isSensitive(skill: Skill): boolean;
}) => Tool {
  const input = z.object({ skill: z.string() });
  const make = prepareTool({
    name: 'skills_load',
    row: skillLookupRows.skills_load,
    description:
      'Loads the instructions of a skill for you to follow yourself in this turn, with the list of its files. ' +
      'From then on you may use only the tools it allows.',
    input,
    // It counts as an effect, because it decides what may be called next (T6).
    traits: { ...readOnly, sideEffects: true },
    risk: 'safe',
  });
  return ({ find, visible, body, maxBytes, pathOf, restriction, isSensitive }) => ({
    ...make(async ({ skill: name }): Promise<Envelope> => {
      const skill = await find(name);
      if (skill === undefined) return noSuchSkill(name, visible());
      const loaded = await skillInstructions(skill, { body: body(skill), maxBytes: maxBytes(), restriction });
      if (!loaded.ok) return loaded.envelope;
      const { files, scripts, cut } = listSkillFiles(skill);
      const facts = {
        ...describeSkill(skill),
        path: skill.directory && pathOf(skill.directory),
        scripts,
        files,
        files_cut: cut ? 'there are more files than are listed here' : undefined,
        body_truncated: loaded.truncated ? true : undefined,
      };
      return {
        ok: true,
        data: `${escapeLabels(JSON.stringify(facts, null, 1))}\n${loaded.text}`,
        warnings: loaded.warnings,
        errors: [],
        activeSkill: loaded.activeSkill,
      };
    }),
    async assess(given) {
      const skill = await find(input.parse(given).skill);
      return skill !== undefined && isSensitive(skill) ? { taint: skill.name } : {};
    },
    labelsOutput: true,
    outputLimit: instructionsLimit,
  });
}

/** `skills_read_file {skill, path}` for the main agent. Hidden skills look unknown (A11, R4). */
export function createSkillsReadFile(): (
  visible: () => readonly Skill[],
  isSensitive: (skill: Skill) => boolean,
  maxBytes: () => number,
) => Tool {
  const input = z.object({ skill: z.string(), path: filePath, offset: offsetInput });
  const make = prepareTool({
    name: 'skills_read_file',
    row: skillLookupRows.skills_read_file,
    description: 'Reads a text file of a skill.',
    input,
    traits: readOnly,
  });
  return (visible, isSensitive, maxBytes) => {
    const find = (name: string): Skill | undefined => skillNamed(visible(), name);
    return {
      ...make(async ({ skill: name, path, offset }) => {
        const skill = find(name);
        return skill === undefined
          ? noSuchSkill(name, visible())
          : readFile(skill, { path, offset }, maxBytes());
      }),
      async assess(given) {
        const skill = find(input.parse(given).skill);
        return skill !== undefined && isSensitive(skill) ? { taint: skill.name } : {};
      },
    };
  };
}

/** `skills_read_file {path}` for a run, which can read only its own skill's files (R1). */
export function ownSkillReadFileTool(skill: Skill, maxBytes: number): Tool {
  return defineTool({
    name: 'skills_read_file',
    row: skillLookupRows.skills_read_file,
    description: 'Reads a text file of this skill.',
    input: ownFile,
    traits: readOnly,
    run: async (asked) => readFile(skill, asked, maxBytes),
  });
}

function readFile(skill: Skill, { path, offset }: z.output<typeof ownFile>, maxBytes: number): Envelope {
  const read = readSkillFile(skill, path, maxBytes);
  if (!read.ok) return fail(read.code, read.message);
  // Pages of bundled skills show commands of the bot itself.
  return pageOf(skill.origin === 'bundled' ? asTypedHere(read.text) : read.text, offset);
}

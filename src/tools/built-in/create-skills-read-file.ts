import { z } from 'zod';
import { fail, type Envelope } from '../../core/envelope.ts';
import type { Skill } from '../../core/skill.ts';
import { defineTool, prepareTool, readOnly, type Tool } from '../../core/tool.ts';
import { readSkillFile } from '../../skills/read-skill-file.ts';
import { offsetInput, pageOf } from '../web/page-of.ts';
import { noSuchSkill } from './no-such-skill.ts';

const filePath = z.string().describe('relative to the skill, such as references/api.md');

/** `skills_read_file {skill, path}` for the main agent, made for each turn. A hidden skill gets the answer of an unknown one (A11, R4). */
export function createSkillsReadFile(): (
  visible: () => readonly Skill[],
  /** Whether what its files say is private (S7). */
  isSensitive: (skill: Skill) => boolean,
) => Tool {
  const input = z.object({ skill: z.string(), path: filePath, offset: offsetInput });
  const make = prepareTool({
    name: 'skills_read_file',
    description: 'Reads a text file of a skill.',
    input,
    traits: readOnly,
  });
  return (visible, isSensitive) => {
    const find = (name: string): Skill | undefined => visible().find((each) => each.name === name);
    return {
      ...make(async ({ skill: name, path, offset }) => {
        const skill = find(name);
        return skill === undefined ? noSuchSkill(name, visible()) : readFile(skill, path, offset);
      }),
      async terms(given) {
        const skill = find(input.parse(given).skill);
        return skill !== undefined && isSensitive(skill) ? { marks: skill.name } : {};
      },
    };
  };
}

const ownFile = z.object({ path: filePath, offset: offsetInput });

/** `skills_read_file {path}` in a run: its own skill's files and no other's (R1). */
export function ownSkillReadFileTool(skill: Skill): Tool {
  return defineTool({
    name: 'skills_read_file',
    description: 'Reads a text file of this skill.',
    input: ownFile,
    traits: readOnly,
    run: async ({ path, offset }) => readFile(skill, path, offset),
  });
}

function readFile(skill: Skill, path: string, offset: number | undefined): Envelope {
  const read = readSkillFile(skill, path);
  return read.ok ? pageOf(read.text, offset) : fail(read.code, read.message);
}

import { z } from 'zod';
import { defuse } from '../../lib/text/escape-labels.ts';
import type { Envelope } from '../../core/envelope.ts';
import type { Skill } from '../../core/skill.ts';
import { prepareTool, readOnly, type Tool } from '../../core/tool.ts';
import type { FilledBody } from '../../skills/registry.ts';
import { listSkillFiles } from '../../skills/skill-files.ts';
import type { Contraction } from '../contraction.ts';
import { instructionsLimit, skillInstructions } from '../skill-instructions.ts';
import { describeSkill } from './describe-skill.ts';
import { noSuchSkill } from './no-such-skill.ts';

/**
 * `skills_load {skill}`: a skill's instructions, its path as tools see it, its scripts and file index (R1, R3). A hidden
 * skill is answered like an unknown one (A11). Made for each turn, which it narrows (T6).
 */
export function createSkillsLoad(): (options: {
  /** A visible skill, after a re-scan where the name is unknown (D7). */
  find(name: string): Promise<Skill | undefined>;
  /** Those whose names may be told where one is unknown. */
  visible(): readonly Skill[];
  /** Its instructions as the file holds them now, the places for arguments left as they are. */
  body(skill: Skill): Promise<FilledBody>;
  /** Its folder as tools see it. */
  pathOf(directory: string): string;
  contraction: Pick<Contraction, 'judge'>;
  /** Whether what comes of following it is private (S7). */
  isSensitive(skill: Skill): boolean;
}) => Tool {
  const input = z.object({ skill: z.string() });
  const make = prepareTool({
    name: 'skills_load',
    description:
      'Loads the instructions of a skill for you to follow yourself in this turn, with the list of its files. ' +
      'From then on you may use only the tools it allows.',
    input,
    // What may be called next hangs on it, so it never runs beside other calls (T6).
    traits: { ...readOnly, sideEffects: true },
    risk: 'safe',
  });
  return ({ find, visible, body, pathOf, contraction, isSensitive }) => ({
    ...make(async ({ skill: name }): Promise<Envelope> => {
      const skill = await find(name);
      if (skill === undefined) return noSuchSkill(name, visible());
      const loaded = await skillInstructions(skill, { body: body(skill), contraction });
      if (!loaded.ok) return loaded.envelope;
      const { files, scripts, cut } = listSkillFiles(skill);
      const facts = {
        ...describeSkill(skill),
        ...(skill.directory === undefined ? {} : { path: pathOf(skill.directory) }),
        scripts,
        files,
        ...(cut ? { files_cut: 'there are more files than are listed here' } : {}),
        ...(loaded.truncated ? { body_truncated: true } : {}),
      };
      return {
        ok: true,
        data: `${defuse(JSON.stringify(facts, null, 1))}\n${loaded.text}`,
        warnings: loaded.warnings,
        errors: [],
        follows: loaded.follows,
      };
    }),
    async terms(given) {
      const skill = await find(input.parse(given).skill);
      return skill !== undefined && isSensitive(skill) ? { marks: skill.name } : {};
    },
    labelsOutput: true,
    outputLimit: instructionsLimit,
  });
}

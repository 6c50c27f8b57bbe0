import type { Envelope } from '../core/envelope.ts';
import { escapeLabels } from '../lib/text/escape-labels.ts';
import type { Skill } from '../core/skill.ts';
import type { FilledBody } from '../skills/registry.ts';
import { listSkillFiles } from '../skills/skill-files.ts';
import { namedElsewhere } from '../tools/allowed-tools.ts';
import { skillInstructions, type ToolRestriction } from '../tools/tool-restriction.ts';
import type { InlineSkill, SkillRequest } from './use-skill.ts';

/** The instructions of a `context: inline` skill for the main agent, or why it is a run after all (U8, I5). */
export function createInlineSkill(options: {
  /** Of the main agent, whatever the turn has left of them. */
  tools(): readonly string[];
  /** Other tools that exist. */
  elsewhere(): readonly string[];
  given(skill: Skill): GivenToSkill | undefined;
  body(skill: Skill, args: string): Promise<FilledBody>;
  contraction: Pick<ToolRestriction, 'judge'>;
}): InlineSkill {
  const { tools, elsewhere, given, body, contraction } = options;
  return async (skill, request) => {
    const why = whyForked(skill, tools(), given(skill), elsewhere());
    if (why !== undefined) return { forked: `${skill.name} is a run of its own here: ${why}` };
    const args = argumentsOf(request);
    const loaded = await skillInstructions(skill, {
      body: body(skill, args),
      change: ({ text, substituted }) =>
        substituted || args === '' ? text : `${text}\n\nARGUMENTS: ${args}`,
      contraction,
    });
    if (!loaded.ok) return { envelope: loaded.envelope };
    const envelope: Envelope = {
      ok: true,
      data: [...filesOf(skill), loaded.text].join('\n'),
      warnings: loaded.warnings,
      errors: [],
      follows: loaded.follows,
    };
    return { envelope };
  };
}

/** The part of `[skills.NAME]` that makes an inline skill a run. */
export type GivenToSkill = Readonly<{ model?: string | undefined; env: Readonly<Record<string, string>> }>;

/** Why an inline skill is a run here; undefined if it can be followed (U8). */
export function whyForked(
  skill: Skill,
  tools: readonly string[],
  given: GivenToSkill | undefined,
  elsewhere: readonly string[] = [],
): string | undefined {
  if (skill.env.length > 0 || Object.keys(given?.env ?? {}).length > 0)
    return 'it has an environment of its own';
  if (skill.capabilities.length > 0) return 'it has capabilities of its own';
  if (skill.packages.length > 0) return 'it needs packages';
  if (listSkillFiles(skill).scripts.length > 0) return 'it has scripts';
  // The model it would have anyway.
  if (!['default', undefined].includes(given?.model ?? skill.model)) return 'it has a model of its own';
  const lacking = namedElsewhere(skill.allowedTools ?? [], tools, elsewhere);
  return lacking.length === 0 ? undefined : `it needs tools that the main agent lacks: ${lacking.join(', ')}`;
}

function argumentsOf({ args, message }: SkillRequest): string {
  return args ?? message;
}

function filesOf(skill: Skill): readonly string[] {
  const { files, cut } = listSkillFiles(skill);
  if (files.length === 0) return [];
  const listed = files.map((file) => `- ${escapeLabels(file)}`);
  return ['Files of the skill, for skills_read_file:', ...listed, ...(cut ? ['- …'] : [])];
}

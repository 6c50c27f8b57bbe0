import { fail, type Envelope } from '../core/envelope.ts';
import type { ActiveSkill } from '../core/entry.ts';
import { escapeLabels, labelled } from '../lib/text/escape-labels.ts';
import type { Skill } from '../core/skill.ts';
import { truncate } from '../lib/text/text.ts';
import { bodyLimit } from '../skills/read-body.ts';
import type { FilledBody } from '../skills/registry.ts';
import type { ToolRestriction } from './tool-restriction.ts';

/** Characters of an answer that holds instructions: those of the longest body, and what stands around them. */
export const instructionsLimit = bodyLimit + 40_000;

export type Instructions =
  | Readonly<{
      ok: true;
      /** In a label that its content cannot close. */
      text: string;
      truncated: boolean;
      follows: ActiveSkill;
      warnings: Envelope['warnings'];
    }>
  | Readonly<{ ok: false; envelope: Envelope }>;

/**
 * A skill's instructions for the main agent to follow itself, and what following them makes of its tools (U8, T6).
 * `change` has the last word on the text. Nothing is bound where this fails.
 */
export async function skillInstructions(
  skill: Skill,
  given: Readonly<{
    body: Promise<FilledBody>;
    change?: (body: Extract<FilledBody, { ok: true }>) => string;
    contraction: Pick<ToolRestriction, 'judge'>;
  }>,
): Promise<Instructions> {
  const body = await given.body;
  if (!body.ok) return { ok: false, envelope: fail(body.code, body.message) };
  const judged = given.contraction.judge(skill);
  if (!judged.ok) return judged;
  const cut = truncate(escapeLabels(given.change?.(body) ?? body.text), bodyLimit);
  const truncated = body.truncated || cut.truncated;
  const message = `the instructions of ${skill.name} are longer than ${bodyLimit} bytes and were cut`;
  return {
    ok: true,
    text: labelled('instruction', cut.text, { skill: skill.name }),
    truncated,
    follows: judged.follows,
    warnings: [
      ...(truncated ? [{ code: 'CONTENT_TRUNCATED', message } as const] : []),
      // A skill's own words stand in them, and nothing makes them harmless later.
      ...judged.warnings.map((warning) => ({ ...warning, message: escapeLabels(warning.message) })),
    ],
  };
}

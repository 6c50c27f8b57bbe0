import { z } from 'zod';
import { describeFound, keyProblem, whatToWrite, type ConfigProblem } from '../config/config-problem.ts';
import { valueAt } from '../config/section.ts';
import { parseJson } from '../lib/json/json-values.ts';
import { plainCase, type ParsedCases } from './skill-cases.ts';

/** What people write beside a statement, such as its id, is left out. */
const statement = z.union(
  [z.string().min(1), z.looseObject({ text: z.string().min(1) }).transform(({ text }) => text)],
  { error: 'write a statement as text, or {"text": "…"}' },
);
const statements = z.array(statement).default([]);

/**
 * An eval of `evals/evals.json` as agentskills.io and the skill-creator of anthropics/skills write it: the first calls
 * its statements `assertions`, the second `expectations`. Other keys are for other programs, so they are left out.
 */
const skillEval = z.looseObject({
  id: z.union([z.string(), z.number()], { error: 'write a number or a text' }).optional(),
  name: z.string().min(1).optional(),
  prompt: z.string().min(1),
  expected_output: z.string().default(''),
  files: z.array(z.string().min(1)).default([]),
  expectations: statements,
  assertions: statements,
});

const evals = z.looseObject({
  evals: z.array(skillEval, { error: 'write a list of evals' }).min(1, 'write at least one eval'),
});

/** The evals of a skill as cases. An eval without statements has what it expects as its only one (F13). */
export function parseSkillEvals(text: string, file: string): ParsedCases {
  const data = parseJson(text.replace(/^\uFEFF/, ''));
  if (data === undefined) return { ok: false, problems: [notJson(file)] };
  const parsed = evals.safeParse(data, { error: whatToWrite });
  if (!parsed.success) return { ok: false, problems: problemsOf(parsed.error, data, file) };
  const cases = parsed.data.evals.map((one, index) => {
    const written = [...one.expectations, ...one.assertions];
    return {
      ...plainCase(one.prompt),
      name: one.name ?? `eval ${one.id ?? index + 1}`,
      file,
      files: one.files,
      expectations: written.length > 0 || one.expected_output === '' ? written : [one.expected_output],
    };
  });
  return { ok: true, cases };
}

const prompts = z
  .array(
    z.looseObject({
      query: z.string().min(1),
      should_trigger: z.boolean({ error: 'write true or false' }),
    }),
    { error: 'write a list such as [{"query": "…", "should_trigger": true}]' },
  )
  .min(1, 'write at least one prompt');

export type TriggerPrompt = Readonly<{ query: string; shouldTrigger: boolean }>;

/** A list of prompts that should or should not start a skill, in the form of the skill-creator (F13). */
export function parseTriggerPrompts(
  text: string,
  file: string,
):
  | Readonly<{ ok: true; prompts: readonly TriggerPrompt[] }>
  | Readonly<{ ok: false; problems: readonly ConfigProblem[] }> {
  const data = parseJson(text.replace(/^\uFEFF/, ''));
  if (data === undefined) return { ok: false, problems: [notJson(file)] };
  const parsed = prompts.safeParse(data, { error: whatToWrite });
  if (parsed.success)
    return {
      ok: true,
      prompts: parsed.data.map(({ query, should_trigger: shouldTrigger }) => ({ query, shouldTrigger })),
    };
  return { ok: false, problems: problemsOf(parsed.error, data, file) };
}

function problemsOf({ issues }: z.ZodError, data: unknown, file: string): readonly ConfigProblem[] {
  return issues.map(({ path, message }) => {
    const at = path.filter((part) => typeof part !== 'symbol');
    return keyProblem({ file, place: undefined, path: at }, describeFound(valueAt(data, at), false), message);
  });
}

function notJson(file: string): ConfigProblem {
  return { file, message: 'this is no JSON: check it with `python3 -m json.tool`.' };
}

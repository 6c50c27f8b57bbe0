import { parse, stringify, TomlError, type TomlTable } from 'smol-toml';
import { z } from 'zod';
import { chatTypes } from '../core/conversation.ts';
import {
  describeFound,
  keyProblem,
  unknownKeyProblem,
  whatToWrite,
  describeSyntaxError,
  type ConfigProblem,
} from '../config/config-problem.ts';
import { userId } from '../config/id.ts';
import { valueAt, section, type KeyPath } from '../config/section.ts';
import { locateKeys } from '../config/locate-keys.ts';

const texts = z
  .union([z.string().transform((one) => [one]), z.array(z.string().min(1))], {
    error: 'write a text or a list of texts',
  })
  .default([]);
const pattern = z.string().refine(isPattern, 'write a regular expression as JavaScript has it');

const expectation = section({
  contains: texts,
  lacks: texts,
  matches: z
    .union([pattern.transform((one) => [one]), z.array(pattern)], {
      error: 'write a regular expression as JavaScript has it, or a list of them',
    })
    .default([]),
  json: z.record(z.string(), z.json()).default({}),
});

const statuses = ['ok', 'partial', 'error', 'needs_input'] as const;

/** A `[[case]]` of a file with test cases (L3). */
const skillCase = section({
  name: z.string().min(1).optional(),
  message: z.string().min(1),
  chat_type: z.enum(chatTypes).default('private'),
  chat: z.string().min(1).optional(),
  external: z.boolean().default(false),
  sender: userId.optional(),
  skill: z.string().min(1).optional(),
  status: z.enum(statuses, { error: `write one of ${statuses.join(', ')}` }).optional(),
  may_call: z.array(z.string().min(1)).optional(),
  must_call: z.array(z.string().min(1)).default([]),
  result: expectation.optional(),
  answer: expectation.optional(),
  expectations: z.array(z.string().min(1)).default([]),
  files: z.array(z.string().min(1)).default([]),
  approve: z.boolean().optional(),
  alone: z.boolean().default(false),
  timeout_seconds: z.int().min(1).max(3_600).default(120),
});

const file = z.strictObject({ case: z.array(skillCase).min(1, 'write at least one [[case]]') });

export type Expectation = z.output<typeof expectation>;

export type SkillCase = z.output<typeof skillCase> &
  Readonly<{ /** As written, otherwise its number in the file. */ name: string; file: string }>;

export type ParsedCases =
  | Readonly<{ ok: true; cases: readonly SkillCase[] }>
  | Readonly<{ ok: false; problems: readonly ConfigProblem[] }>;

/** A case that says nothing but a message. */
export function plainCase(message: string): Omit<SkillCase, 'name' | 'file'> {
  return skillCase.parse({ message });
}

/**
 * Reads a file of test cases. It returns all problems at once, with their lines; unknown keys are problems, too (L3).
 */
export function parseSkillCases(text: string, name: string): ParsedCases {
  let data: TomlTable;
  try {
    data = parse(text, { unsafeKeyBehaviour: 'throw', maxDepth: 20 });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return { ok: false, problems: [{ ...describeSyntaxError(error), file: name }] };
  }
  const parsed = file.safeParse(data, { error: whatToWrite });
  if (parsed.success) {
    const cases = parsed.data.case.map((one, index) => ({
      ...one,
      name: one.name ?? `case ${index + 1}`,
      file: name,
    }));
    return { ok: true, cases };
  }
  const placeOf = locateKeys(text);
  const problems = parsed.error.issues.flatMap((issue) => {
    const path = issue.path.filter((part) => typeof part !== 'symbol');
    const at = (where: KeyPath) => ({ file: name, place: placeOf(where), path: where });
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => unknownKeyProblem(at([...path, key]), knownKeys(path.length)));
    return [
      keyProblem(
        at(path),
        describeFound(valueAt(data, path), false, issue.code === 'invalid_value'),
        issue.message,
      ),
    ];
  });
  return { ok: false, problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)) };
}

/** Writes a file of one case about the answer. `comments` are lines above it. */
export function writeSkillCase(
  {
    answer,
    ...one
  }: Readonly<{
    name: string;
    message: string;
    skill: string;
    answer: Readonly<{ contains: readonly string[]; lacks: readonly string[] }>;
  }>,
  comments: readonly string[],
): string {
  const expected = Object.entries(answer).filter(([, texts]) => texts.length > 0);
  const lines = comments.map((line) => `# ${line}\n`).join('');
  return `${lines}\n${stringify({ case: [{ ...one, answer: Object.fromEntries(expected) }] })}`;
}

const keysOfCase = Object.keys(skillCase.in.shape);
const keysOfExpectation = Object.keys(expectation.in.shape);

function knownKeys(depth: number): readonly string[] {
  return depth === 0 ? ['case'] : depth === 2 ? keysOfCase : keysOfExpectation;
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

import { isDeepStrictEqual } from 'node:util';
import type { Expectation, SkillCase } from '../../skills/skill-cases.ts';

export type CaseRun = Readonly<{
  /** The skills that were used, in order, with how each use ended. */
  used: readonly Readonly<{ skill: string; status: string }>[];
  /** The tools that runs called, in order. */
  called: readonly string[];
  /** What the last run of the expected skill answered. Undefined if none ended with a text. */
  result?: string;
  answer: string;
  /** The files that the person was sent, each with the beginning of its text. Empty for a file that is no text. */
  files: readonly Readonly<{ name: string; text: string }>[];
  /** All tool calls in order, those of the main agent included: the name and the beginning of the input. */
  calls: readonly string[];
  /** Tokens of all models, and those of the cache. */
  tokens: number;
  /** Why the case could not run. Undefined if it ran. */
  fault?: string;
}>;

/** A sentence for each problem of a case. It passed if there is none (L3). */
export function judgeCase(expected: SkillCase, run: CaseRun): readonly string[] {
  const { skill, status, mayCall, mustCall, result, answer } = expected;
  return [
    ...(run.fault === undefined ? [] : [run.fault]),
    ...(skill === undefined ? [] : judgeSkill(skill, run)),
    ...(status === undefined || run.used.at(-1)?.status === status
      ? []
      : [`the run ended as ${run.used.at(-1)?.status ?? 'none at all'}, not as ${status}`]),
    ...mustCall.filter((name) => !run.called.includes(name)).map((name) => `${name} was not called`),
    ...[...new Set(run.called)]
      .filter((name) => mayCall !== undefined && !mayCall.includes(name) && !mustCall.includes(name))
      .map((name) => `${name} was called, and only ${mayCall?.join(', ') || 'no tool'} may be`),
    ...(result === undefined ? [] : judgeText('the result', result, run.result)),
    ...(answer === undefined ? [] : judgeText('the answer', answer, run.answer)),
  ];
}

function judgeSkill(skill: string, { used }: CaseRun): readonly string[] {
  const names = [...new Set(used.map((one) => one.skill))];
  const found = names.length === 0 ? 'none' : names.join(', ');
  if (skill === 'none') return names.length === 0 ? [] : [`a skill was used, ${found}, and none should be`];
  return names.includes(skill) ? [] : [`the skill ${skill} was not used, but ${found}`];
}

function judgeText(what: string, expected: Expectation, text: string | undefined): readonly string[] {
  if (text === undefined) return [`${what} is missing: no run of the skill ended with a text`];
  const { contains, lacks, matches, json } = expected;
  const shown = JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}…` : text);
  return [
    ...contains
      .filter((part) => !text.includes(part))
      .map((part) => `${what} lacks ${JSON.stringify(part)}: ${shown}`),
    ...lacks
      .filter((part) => text.includes(part))
      .map((part) => `${what} contains ${JSON.stringify(part)}: ${shown}`),
    ...matches
      .filter((pattern) => !new RegExp(pattern, 'u').test(text))
      .map((pattern) => `${what} does not match /${pattern}/: ${shown}`),
    ...judgeJson(what, json, text, shown),
  ];
}

function judgeJson(
  what: string,
  expected: Expectation['json'],
  text: string,
  shown: string,
): readonly string[] {
  const paths = Object.entries(expected);
  if (paths.length === 0) return [];
  const data = jsonIn(text);
  if (data === undefined) return [`${what} is no JSON: ${shown}`];
  return paths.flatMap(([path, wanted]) => {
    const found = at(data.value, path);
    return isDeepStrictEqual(found, wanted)
      ? []
      : [`${what} has ${JSON.stringify(found) ?? 'nothing'} at ${path}, not ${JSON.stringify(wanted)}`];
  });
}

/** The text as JSON, or its first fenced block. Undefined if neither is JSON. */
function jsonIn(text: string): Readonly<{ value: unknown }> | undefined {
  const fenced = /```(?:json)?\n([^]*?)\n```/.exec(text)?.[1];
  for (const candidate of [text, fenced]) {
    if (candidate === undefined) continue;
    try {
      return { value: JSON.parse(candidate) as unknown };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}

/** The value at a path such as `a.b[0].c`, where `$` stands for the whole. */
function at(value: unknown, path: string): unknown {
  const parts = path.replace(/^\$\.?/, '').match(/[^.[\]]+/g) ?? [];
  return parts.reduce<unknown>(
    (inner, part) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, part)
        ? (inner as Readonly<Record<string, unknown>>)[part]
        : undefined,
    value,
  );
}

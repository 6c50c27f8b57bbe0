import { isDeepStrictEqual } from 'node:util';
import type { Entry } from '../../core/entry.ts';
import type { CallTool, ToolOutcome } from '../../core/tool-call.ts';

/** What the model reads in place of a result that the record does not hold. */
export const notInRecord =
  'This is a rehearsal, so no tool runs. The record has no result for this call. Answer with what you have.';

type Recorded = Readonly<{ name: string; input: unknown; outcome: ToolOutcome }>;

/** A call of a rehearsal, and whether the record has its result. */
export type RehearsedCall = Readonly<{ name: string; isRecorded: boolean }>;

/**
 * Makes the door of a rehearsal: a call gets the result that the same call got then, and nothing runs (L20). Repeated
 * calls get their results in order. A call of a skill is the same if its skill is, because its task is free words. A tool
 * that is not offered any more gets no result.
 */
export function answerFromRecord(
  record: readonly Entry[],
  offers: (tool: string) => boolean,
  onCall: (call: RehearsedCall) => void,
): CallTool {
  const recorded = recordedCalls(record);
  const used = new Set<Recorded>();
  return async ({ name, input }, _signal, begin) => {
    const same = recorded.filter((one) => one.name === name && isSameInput(name, one.input, input));
    const found = offers(name) ? (same.find((one) => !used.has(one)) ?? same.at(-1)) : undefined;
    onCall({ name, isRecorded: found !== undefined });
    await begin?.();
    if (found === undefined) return { content: notInRecord, isError: true };
    used.add(found);
    return found.outcome;
  };
}

/** The names of the tools that the record has calls of. */
export function recordedTools(record: readonly Entry[]): ReadonlySet<string> {
  return new Set(recordedCalls(record).map(({ name }) => name));
}

function recordedCalls(record: readonly Entry[]): readonly Recorded[] {
  const results = new Map(
    record.flatMap((entry) => (entry.kind === 'tool_result' ? [[entry.toolUseId, entry] as const] : [])),
  );
  return record.flatMap((entry) =>
    (entry.kind === 'assistant' ? entry.content : []).flatMap((block) => {
      const result = block.type === 'tool_use' ? results.get(block.id) : undefined;
      if (block.type !== 'tool_use' || result === undefined) return [];
      const { content, isError, activeSkill, taint, steps } = result;
      return [
        { name: block.name, input: block.input, outcome: { content, isError, activeSkill, taint, steps } },
      ];
    }),
  );
}

function isSameInput(tool: string, one: unknown, other: unknown): boolean {
  if (tool !== 'use_skill') return isDeepStrictEqual(one, other);
  const [was, is] = [one, other].map((input) => (input as Readonly<{ skill?: unknown }> | null)?.skill);
  return was === is;
}

import type Anthropic from '@anthropic-ai/sdk';
import type { Entry } from '../../core/entry.ts';
import { newestSummary } from '../view-entries.ts';

/** Begins the ids of calls that the host makes for a person: no model's call may pass for one. */
export const hostCallPrefix = 'person_';

/** Whether the host made the call, so that its input is the host's own. */
export function isHostCall(id: string): boolean {
  return id.startsWith(hostCallPrefix);
}

/**
 * An answer's content with ids for its tool calls that no earlier call of the transcript has. Some local servers count
 * from zero in each answer, and the journal tells calls apart by their ids. Where a summary stands for calls that can't be
 * looked at any more, its time is added.
 */
export function uniqueCallIds(
  content: readonly Anthropic.ContentBlock[],
  entries: readonly Entry[],
): readonly Anthropic.ContentBlock[] {
  const used = new Set(entries.flatMap((entry) => (entry.kind === 'assistant' ? idsOf(entry.content) : [])));
  const since = newestSummary(entries).summary?.at.toString(36);
  return content.map((block) => {
    if (block.type !== 'tool_use') return block;
    const given = block.id || 'call';
    const wanted = given.startsWith(hostCallPrefix) ? `call_${given}` : given;
    const id = freeId(since === undefined ? wanted : `${wanted}_${since}`, used);
    used.add(id);
    return id === block.id ? block : { ...block, id };
  });
}

function freeId(wanted: string, used: ReadonlySet<string>): string {
  let id = wanted;
  for (let count = 2; used.has(id); count++) id = `${wanted}_${count}`;
  return id;
}

function idsOf(content: readonly Anthropic.ContentBlock[]): readonly string[] {
  return content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
}

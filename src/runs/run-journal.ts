import { createHash } from 'node:crypto';
import type { Entry } from '../core/entry.ts';
import { localDay } from '../core/local-time.ts';
import { asPriced, usedBy } from '../core/model.ts';
import type { Step, Store } from '../store/store.ts';

/** The id of a run, its journal and its scratch folder. It is the same when the call is repeated. */
export function runIdOf(parent: string, toolUseId: string): string {
  return createHash('sha256').update(`${parent}\n${toolUseId}`).digest('hex').slice(0, 16);
}

/** Name of a run's journal. It begins with the id of the conversation's transcript. */
export function runJournal(parent: string, run: string): string {
  return `${parent}#run:${run}`;
}

/** Whose usage is counted: `skill` is empty for the main agent; `model` is an alias. */
type User = Readonly<{ sender: string; conversation: string; skill: string; model: string }>;

/**
 * Usage of one entry. It is stored in the entry's transaction, so that sums are exact (U10). `zone` is the operator's
 * IANA time zone, which decides the day.
 */
export function useOfEntry(entry: Entry, user: User, zone: string): NonNullable<Step['usage']> {
  if (entry.kind !== 'assistant' && entry.kind !== 'summary') return [];
  const day = localDay(entry.at, zone);
  return usedBy(entry, user.model).map(({ model, tokens }) => ({
    ...user,
    day,
    model,
    tokens: asPriced(tokens),
  }));
}

export async function hasStarted(
  parent: string,
  toolUseId: string,
  { transcripts }: Store,
): Promise<boolean> {
  const { entries } = await transcripts.read(runJournal(parent, runIdOf(parent, toolUseId)));
  return entries.length > 0;
}

import { createHash } from 'node:crypto';
import type { Entry } from '../core/entry.ts';
import { localDay } from '../core/local-time.ts';
import type { Step, Store } from '../store/store.ts';

/** Stable; names a run, its journal and its scratch folder. */
export function runIdOf(parent: string, toolUseId: string): string {
  return createHash('sha256').update(`${parent}\n${toolUseId}`).digest('hex').slice(0, 16);
}

/** Begins with the conversation's id. */
export function runJournal(parent: string, run: string): string {
  return `${parent}#run:${run}`;
}

/** `skill` is empty for the main agent; `model` is an alias. */
type User = Readonly<{ sender: string; conversation: string; skill: string; model: string }>;

/** Stored in one step with its entry, so sums are exact (U10). `zone`: the operator's. */
export function useOfEntry(entry: Entry, user: User, zone: string): NonNullable<Step['usage']> {
  if (entry.kind !== 'assistant' && entry.kind !== 'summary') return [];
  return [{ ...user, day: localDay(entry.at, zone), tokens: entry.tokens }];
}

export async function hasStarted(
  parent: string,
  toolUseId: string,
  { transcripts }: Pick<Store, 'transcripts'>,
): Promise<boolean> {
  const { entries } = await transcripts.read(runJournal(parent, runIdOf(parent, toolUseId)));
  return entries.length > 0;
}

import { createHash } from 'node:crypto';
import type { Entry } from '../core/entry.ts';
import type { Step, Store } from '../store/store.ts';

/** Short, the same for the same call: names a run, its journal and its scratch folder. */
export function runIdOf(parent: string, toolUseId: string): string {
  return createHash('sha256').update(`${parent}\n${toolUseId}`).digest('hex').slice(0, 16);
}

/** Id of the transcript that is a run's journal: everything of a conversation begins with the conversation's own. */
export function runJournal(parent: string, run: string): string {
  return `${parent}#run:${run}`;
}

/** Who used a model, where and for what; `skill` is empty for the main agent, `model` the alias that was asked. */
type User = Readonly<{ sender: string; conversation: string; skill: string; model: string }>;

/** What an entry says was used of a model, to be stored in one step with it, so that the sums are exact (U10). */
export function useOfEntry(entry: Entry, user: User): NonNullable<Step['usage']> {
  if (entry.kind !== 'assistant' && entry.kind !== 'summary') return [];
  return [{ ...user, day: new Date(entry.at).toISOString().slice(0, 10), tokens: entry.tokens }];
}

/** Whether the run behind a call that `parent` made has started, in this process or one before. */
export type HasStarted = (parent: string, toolUseId: string) => Promise<boolean>;

/** Asks the run's own journal. */
export function createHasStarted({ transcripts }: Pick<Store, 'transcripts'>): HasStarted {
  return async (parent, toolUseId) => {
    const { entries } = await transcripts.read(runJournal(parent, runIdOf(parent, toolUseId)));
    return entries.length > 0;
  };
}

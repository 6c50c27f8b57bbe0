import type { Store } from '../store/store.ts';
import { runIdOf, runJournal } from './run-journal.ts';

/** Whether the run behind a call that `parent` made has begun, in this process or one before. */
export type HasBegun = (parent: string, toolUseId: string) => Promise<boolean>;

/** Asks the run's own journal. */
export function createHasBegun({ transcripts }: Pick<Store, 'transcripts'>): HasBegun {
  return async (parent, toolUseId) => {
    const { entries } = await transcripts.read(runJournal(parent, runIdOf(parent, toolUseId)));
    return entries.length > 0;
  };
}

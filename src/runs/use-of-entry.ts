import type { Entry } from '../core/entry.ts';
import type { Step } from '../store/store.ts';

/** Who used a model, where and for what; `skill` is empty for the main agent, `model` the alias that was asked. */
export type User = Readonly<{ sender: string; conversation: string; skill: string; model: string }>;

/** What an entry says was used of a model, to be stored in one step with it, so that the sums are exact (U10). */
export function useOfEntry(entry: Entry, user: User): NonNullable<Step['usage']> {
  if (entry.kind !== 'assistant' && entry.kind !== 'summary') return [];
  return [{ ...user, day: new Date(entry.at).toISOString().slice(0, 10), tokens: entry.tokens }];
}

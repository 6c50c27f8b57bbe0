import { conversationKey, isShared } from '../core/conversation.ts';
import type { Routine } from '../store/routines.ts';
import type { Store } from '../store/store.ts';
import { direct } from './direct-words.ts';

/** What an operator sees of a routine: what it says is its creator's. Times are milliseconds since 1970. */
export type RoutineRow = Readonly<{
  id: string;
  name: string;
  creator: string;
  conversation: string;
  state: Routine['state'];
  next?: number;
  last?: Readonly<{ at: number; how: string }>;
  failures: number;
}>;

export async function listRoutines(store: Pick<Store, 'routines'>): Promise<readonly RoutineRow[]> {
  return (await store.routines.all()).map(({ id, definition, state, dueAt, last, failures }) => ({
    id,
    name: definition.fromConfig === true || isShared(definition) ? definition.name : direct,
    creator: definition.creator.id,
    conversation: conversationKey(definition.conversation),
    state,
    next: dueAt,
    last: last && { at: last.at, how: last.how },
    failures,
  }));
}

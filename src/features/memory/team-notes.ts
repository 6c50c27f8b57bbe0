import type { Memory, MemoryScope, MemoryUse } from '../../core/memory.ts';
import { decideMemory } from './decide-memory.ts';
import { auditOfMemory } from './memory-tools.ts';
import type { MemoryDeps } from './open-memory.ts';

/** What an operator sees: the texts of notes that everybody may see, and how many notes there are of each kind (S8). */
export type TeamNotes = Readonly<{
  counts: Readonly<Record<MemoryScope, number>>;
  team: readonly Pick<Memory, 'id' | 'text' | 'author' | 'authorName' | 'at' | 'from'>[];
}>;

const most = 200;
/** The operator, who is in no chat and is no person with notes. */
const operator: MemoryUse = {
  what: 'show',
  isOn: true,
  chatType: 'group',
  chatIds: [],
  external: false,
  ephemeral: false,
  sender: '',
  manages: true,
};

export async function teamNotes({ memories }: MemoryDeps['store']): Promise<TeamNotes> {
  const [counts, team] = await Promise.all([memories.counts(), memories.of(['team'], most)]);
  const seen = team.filter((memory) => decideMemory(memory, operator).allowed);
  return {
    counts,
    team: seen.map(({ id, text, author, authorName, at, from }) => ({
      id,
      text,
      author,
      authorName,
      at,
      from,
    })),
  };
}

/** Removes a note of the team. Returns false if there is no such note. */
export async function removeTeamNote(
  id: string,
  by: string,
  { store, audit }: Readonly<{ store: MemoryDeps['store']; audit: MemoryDeps['audit'] }>,
): Promise<boolean> {
  const memory = await store.memories.find(id);
  if (memory === undefined || !decideMemory(memory, { ...operator, what: 'forget' }).allowed) return false;
  await store.memories.remove(id);
  const { author: sender, chat: conversation } = memory;
  await audit.record({ ...auditOfMemory('removed', memory), sender, conversation, chatType: 'group', by });
  return true;
}

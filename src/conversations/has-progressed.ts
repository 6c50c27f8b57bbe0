import type { ChatMigrations } from '../access/chat-migrations.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Entry } from '../core/entry.ts';
import type { Message } from '../core/message.ts';
import { runIdOf, runJournal } from '../runs/run-journal.ts';
import { journalOf, taskKey } from '../runs/tasks.ts';
import type { InboxItem } from '../store/inbox.ts';
import type { Store } from '../store/store.ts';
import { invocationId } from '../agent/models/anthropic-request.ts';

export async function transcriptOf(
  { conversation }: Message,
  {
    store,
    migrations,
  }: Readonly<{ store: Pick<Store, 'transcripts'>; migrations: Pick<ChatMigrations, 'original'> }>,
): Promise<string> {
  return store.transcripts.current(conversationKey(await migrations.original(conversation)));
}

/** Whether anything was journalled for an item since `at` (Q3). */
export async function hasProgressed(
  { message }: InboxItem,
  at: number,
  deps: Readonly<{
    store: Pick<Store, 'transcripts' | 'inbox'>;
    migrations: Pick<ChatMigrations, 'original'>;
  }>,
): Promise<boolean> {
  const { store } = deps;
  const hasEntriesSince = async (transcript: string): Promise<boolean> =>
    (await store.transcripts.read(transcript)).entries.some(({ entry }) => entry.at > at);
  if (message.task?.kind === 'run') return hasEntriesSince(journalOf(message.task));
  const transcript = await transcriptOf(message, deps);
  const { entries } = await store.transcripts.read(transcript);
  const later = entries.filter(({ entry }) => entry.at > at);
  if (later.some(({ entry }) => entry.kind !== 'user' || entry.item !== message.id)) return true;
  const calls = [invocationId(message.id), ...openCalls(entries.map(({ entry }) => entry))];
  const runs = calls.map((call) => runIdOf(transcript, call));
  // What waits for a run only waits: the run has its own tries and journal.
  const waiting = await store.inbox.waitingIn(conversationKey(message.conversation));
  if (waiting.some(({ key }) => runs.some((run) => key === taskKey(run)))) return true;
  for (const run of runs) if (await hasEntriesSince(runJournal(transcript, run))) return true;
  return false;
}

/** Calls of the last answer that may have no result yet. */
function openCalls(entries: readonly Entry[]): readonly string[] {
  const last = entries.findLast((entry) => entry.kind === 'assistant');
  return last?.kind === 'assistant'
    ? last.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
    : [];
}

import type { ChatMigrations } from '../access/chat-migrations.ts';
import { invocationId } from '../agent/models/anthropic-request.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Entry } from '../core/entry.ts';
import { interrupted } from '../core/tool-call.ts';
import { runIdOf, runJournal } from '../runs/run-journal.ts';
import { journalOf, taskKey } from '../runs/tasks.ts';
import type { InboxItem } from '../store/inbox.ts';
import type { Store } from '../store/store.ts';
import { transcriptOf } from './inbox-worker.ts';

/**
 * Whether a step ended since `at` (Unix ms), or the item waits for its run (Q3). The start of a call proves nothing,
 * because that call may be what ended the process.
 */
export async function hasProgressed(
  { message }: InboxItem,
  at: number,
  deps: Readonly<{
    store: Store;
    migrations: ChatMigrations;
  }>,
): Promise<boolean> {
  const { store } = deps;
  const hasEntriesSince = async (transcript: string): Promise<boolean> =>
    (await store.transcripts.read(transcript)).entries.some(({ entry }) => entry.at > at && endsStep(entry));
  if (message.task?.kind === 'run') return hasEntriesSince(journalOf(message.task));
  const transcript = await transcriptOf(message, deps);
  const { entries } = await store.transcripts.read(transcript);
  const later = entries.filter(({ entry }) => entry.at > at && endsStep(entry));
  if (later.some(({ entry }) => entry.kind !== 'user' || entry.item !== message.id)) return true;
  const calls = [invocationId(message.id), ...openCalls(entries.map(({ entry }) => entry))];
  const runs = calls.map((call) => runIdOf(transcript, call));
  // A run that it waits for has its own tries and its own journal.
  const waiting = await store.inbox.waitingIn(conversationKey(message.conversation));
  if (waiting.some(({ key }) => runs.some((run) => key === taskKey(run)))) return true;
  for (const run of runs) if (await hasEntriesSince(runJournal(transcript, run))) return true;
  return false;
}

function endsStep(entry: Entry): boolean {
  if (entry.kind === 'tool_result') return entry.content !== interrupted;
  return entry.kind !== 'tool_started' && entry.kind !== 'assistant';
}

function openCalls(entries: readonly Entry[]): readonly string[] {
  const last = entries.findLast((entry) => entry.kind === 'assistant');
  return last?.kind === 'assistant'
    ? last.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
    : [];
}

import type { Entry } from '../core/entry.ts';
import { skillOf, type Message } from '../core/message.ts';
import { journalOf } from '../runs/tasks.ts';
import type { ListedItem } from '../store/inbox.ts';
import type { Store } from '../store/store.ts';

const mostCalls = 30;

export type MadeCall = Readonly<{
  tool: string;
  at: number;
  state: 'running' | 'done' | 'failed';
}>;

/** A message or run that is not finished, with the calls that it has made so far. */
export type WorkRow = Readonly<{
  key: string;
  queue: string;
  sender?: string;
  name?: string;
  /** The skill of a run; undefined for a message. */
  skill?: string;
  kind: 'message' | NonNullable<Message['task']>['kind'];
  state: 'waiting' | 'running' | 'stopping';
  since: number;
  tries: number;
  error?: string;
  calls: readonly MadeCall[];
  /** Id of the approval that it waits for. Undefined: it waits for none. */
  asks?: string;
}>;

type Reads = Readonly<{
  inbox: Store['inbox'];
  transcripts: Store['transcripts'];
  pendingRequests: Store['pendingRequests'];
}>;

/** Lists all work that is not finished, without what people said. */
export async function listWork(store: Reads): Promise<readonly WorkRow[]> {
  const [items, requests] = await Promise.all([store.inbox.list('waiting'), store.pendingRequests.waiting()]);
  return Promise.all(
    items.map(async (item) => {
      const { key, queue, message, takenAt, acceptedAt, tries, error, stopped } = item;
      const transcript = takenAt === undefined ? undefined : await transcriptOf(item, store);
      const calls = transcript === undefined ? [] : callsIn(await entriesOf(transcript, item, store));
      return {
        key,
        queue,
        sender: message?.sender.id,
        name: message?.sender.name,
        skill: skillOf(message?.task),
        kind: message?.task?.kind ?? 'message',
        state: takenAt === undefined ? 'waiting' : stopped === true ? 'stopping' : 'running',
        since: takenAt ?? acceptedAt,
        tries,
        error,
        calls,
        asks: requests.find((request) => request.transcript === transcript)?.id,
      } as const;
    }),
  );
}

async function transcriptOf({ queue, message }: ListedItem, { transcripts }: Reads): Promise<string> {
  const task = message?.task;
  return task?.kind === 'run' ? journalOf(task) : transcripts.current(queue);
}

/** The entries of this turn or run. */
async function entriesOf(
  transcript: string,
  { key, message }: ListedItem,
  { transcripts }: Reads,
): Promise<readonly Entry[]> {
  const { entries } = await transcripts.read(transcript);
  const all = entries.map(({ entry }) => entry);
  if (message?.task?.kind === 'run') return all;
  const begin = all.findLastIndex((entry) => entry.kind === 'user' && entry.item === key);
  return begin < 0 ? [] : all.slice(begin);
}

function callsIn(entries: readonly Entry[]): readonly MadeCall[] {
  const asked = entries.flatMap((entry) =>
    entry.kind === 'assistant'
      ? entry.content.flatMap((block) =>
          block.type === 'tool_use' ? [{ id: block.id, tool: block.name, at: entry.at }] : [],
        )
      : [],
  );
  const results = new Map(
    entries.flatMap((entry) => (entry.kind === 'tool_result' ? [[entry.toolUseId, entry] as const] : [])),
  );
  return asked.slice(-mostCalls).map(({ id, tool, at }) => {
    const result = results.get(id);
    const state = result === undefined ? 'running' : result.isError ? 'failed' : 'done';
    return { tool, at, state };
  });
}

import type { ChatMigrations } from '../access/chat-migrations.ts';
import { invocationId } from '../agent/models/anthropic-request.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Entry } from '../core/entry.ts';
import type { Message } from '../core/message.ts';
import { interrupted } from '../core/tool-call.ts';
import { shutdownReason } from '../lib/async/shutdown.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { createSuspects } from './suspects.ts';
import { runIdOf, runJournal } from '../runs/run-journal.ts';
import { journalOf, taskKey } from '../runs/tasks.ts';
import type { InboxItem } from '../store/inbox.ts';
import type { Values } from '../store/patient-keyed.ts';
import { storeFault } from '../store/store-fault.ts';
import { NewerRow } from '../store/newer-row.ts';
import type { QueueWorker, Store } from '../store/store.ts';
import { onAbort } from '../lib/async/on-abort.ts';

/** Resolves once the item is answered and stored, or postponed. */
export type Handle = (item: InboxItem, signal: AbortSignal) => Promise<void>;

export type InboxWorker = Readonly<{
  start(): void;
  idle(): Promise<void>;
  /** Takes no new items, and aborts what still runs after `graceMs` milliseconds (Q7). */
  stop(graceMs: number): Promise<void>;
}>;

const abortedMs = 2_000;
/** How many stop requests are kept for items that this process has not started; the oldest are dropped first. */
const mostEarlyStops = 1_000;
/** Background runs that may be active per turn slot; most of them only wait for a model. */
const runsPerTurn = 4;
const awayMs = 2_000;
/** Waits before the next try, in milliseconds, by failed tries. */
const backoffMs: Readonly<Record<number, number>> = { 0: 2_000, 1: 2_000, 2: 15_000 };

/**
 * Handles a queue's items one after the other, and up to `concurrency` queues in parallel (Q3). `handle` may be
 * repeated (Q5).
 */
export function createInboxWorker(
  options: Readonly<{
    handle: Handle;
    /** Whether work on the item was stored since `at` (Unix ms). Such a try does not count towards `mostTries` (Q3). */
    progressed(item: InboxItem, at: number): Promise<boolean>;
    /** Tells the person that the item is dead-lettered. Is called again if the process ends before that is stored. */
    onDead(item: InboxItem, error: unknown): Promise<void>;
    channels: readonly string[];
    concurrency: number;
    mostTries?: (key: string) => number;
  }>,
  host: Readonly<{
    store: Pick<Store, 'inbox' | 'signals'> &
      Readonly<{
        pendingRequests: Pick<Store['pendingRequests'], 'open'>;
        keyed(namespace: 'deaths'): Pick<Values, 'get' | 'set'>;
      }>;
    clock: Clock;
    log: Log;
  }>,
): InboxWorker {
  const { handle, progressed, onDead, channels, concurrency, mostTries = () => 3 } = options;
  const { inbox, signals } = host.store;
  const { clock, log } = host;
  const running = new Map<string, AbortController>();
  const early = new Set<string>();
  const stopping = new AbortController();
  const stored = host.store.keyed('deaths');
  const suspects = createSuspects(
    {
      inbox,
      stored,
      // An item that waits for a person's answer can't be what ended the process.
      progressed: async (item, at) =>
        (await host.store.pendingRequests.open(item.message.conversation)).length > 0 || progressed(item, at),
      setAside,
      mostTries,
    },
    { clock, log },
  );
  let workers: readonly QueueWorker[] = [];
  // Any process may send a stop request, so each of them listens (Q9).
  const silence = signals.on('stop', (key) => {
    const abort = running.get(key);
    if (abort !== undefined) return abort.abort(stoppedByPerson());
    // The item is not started yet, or it runs in another process.
    early.add(key);
    for (const oldest of early) if (early.size > mostEarlyStops) early.delete(oldest);
  });

  async function runQueue(queue: string, lost: AbortSignal): Promise<void> {
    const item = await inbox.take(queue, clock.now());
    if (item === undefined) return;
    try {
      await suspects.carryOut(item, (taken) => run(taken, lost));
    } catch (error) {
      // This version can't read the row: the item is returned for a process that can (Q15).
      if (error instanceof NewerRow && !lost.aborted) await inbox.untake(item);
      throw error;
    }
  }

  async function run(item: InboxItem, lost: AbortSignal): Promise<void> {
    const abort = new AbortController();
    running.set(item.key, abort);
    if (early.delete(item.key) || item.stopped === true) abort.abort(stoppedByPerson());
    const stopListening = onAbort(lost, () => abort.abort(shutdownReason()));
    const began = clock.now();
    try {
      await handle(item, abort.signal);
    } catch (error) {
      if (error instanceof NewerRow) throw error;
      if (lost.aborted)
        log.warn(
          { err: error, message: item.key },
          'a queue was lost: its next holder continues with its message',
        );
      else await failed(item, error, began);
    } finally {
      running.delete(item.key);
      stopListening();
    }
  }

  async function failed(item: InboxItem, error: unknown, began: number): Promise<void> {
    // A shutdown is no failure, so this try does not count (Q7).
    if (stopping.signal.aborted) return inbox.postpone(item.key, 'cut off by a shutdown', clock.now());
    const reason = error instanceof Error ? error.message : String(error);
    // The store is away, so the item waits until it is back (Q11).
    if (storeFault(error) !== undefined) return inbox.postpone(item.key, reason, clock.now() + awayMs);
    const further = await progressed(item, began);
    const most = mostTries(item.key);
    const tries = item.tries + (further && most > 1 ? 0 : 1);
    log.error({ err: error, message: item.key, tries }, 'a message could not be answered');
    if (tries >= most) return setAside(item, error);
    const retryAt = clock.now() + (backoffMs[tries] ?? 0);
    await (further ? inbox.postpone(item.key, reason, retryAt) : inbox.fail(item.key, reason, retryAt));
  }

  async function setAside(item: InboxItem, error: unknown): Promise<void> {
    // The person is notified first: after the next line nobody looks at the item again.
    await onDead(item, error);
    await inbox.fail(item.key, error instanceof Error ? error.message : String(error), undefined);
  }

  return {
    start() {
      const beside = channels.map((channel) => `${channel}~`);
      // Background runs have their own slots, so they never delay people (U9).
      workers = [
        inbox.startWorker({ channels, concurrency, run: runQueue }),
        inbox.startWorker({ channels: beside, concurrency: runsPerTurn * concurrency, run: runQueue }),
      ];
    },
    async idle() {
      for (const worker of [...workers, ...workers]) await worker.idle();
    },
    async stop(graceMs) {
      stopping.abort();
      const ended = Promise.all(workers.map((worker) => worker.stop()));
      const late = new AbortController();
      const grace = clock.sleep(graceMs, late.signal).then(
        () => {
          for (const abort of running.values()) abort.abort(shutdownReason());
        },
        () => undefined,
      );
      await Promise.race([ended, grace]);
      late.abort();
      await Promise.race([ended, clock.sleep(abortedMs)]);
      silence();
    },
  };
}

function stoppedByPerson(): DOMException {
  return new DOMException('stopped by a person', 'AbortError');
}

export function wasStarted({ interruptedAt, error }: InboxItem): boolean {
  return interruptedAt !== undefined || error !== undefined;
}

export async function transcriptOf(
  { conversation }: Message,
  {
    store,
    migrations,
  }: Readonly<{ store: Pick<Store, 'transcripts'>; migrations: Pick<ChatMigrations, 'original'> }>,
): Promise<string> {
  return store.transcripts.current(conversationKey(await migrations.original(conversation)));
}

/**
 * Whether a step ended since `at` (Unix ms), or the item waits for its run (Q3). The start of a call proves nothing,
 * because that call may be what ended the process.
 */
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

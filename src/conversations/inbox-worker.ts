import type { ChatMigrations } from '../access/chat-migrations.ts';
import { conversationKey } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import { onAbort } from '../lib/async/on-abort.ts';
import { shutdownReason } from '../lib/async/shutdown.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { createSuspects } from './suspects.ts';
import type { InboxItem } from '../store/inbox.ts';
import type { Values } from '../store/patient-keyed.ts';
import { storeFault } from '../store/store-fault.ts';
import { NewerRow } from '../store/newer-row.ts';
import type { QueueWorker, Store } from '../store/store.ts';

/** Resolves once the item is answered and stored, or postponed. */
export type Handle = (item: InboxItem, signal: AbortSignal) => Promise<void>;

export type InboxWorker = Readonly<{
  start(): void;
  idle(): Promise<void>;
  /** Call when the store was away: what that cut off counts as no death of the process under a message (S15). */
  storeWasAway(): Promise<void>;
  /** Takes no new items, and aborts what still runs after `graceMs` milliseconds (Q7). */
  stop(graceMs: number): Promise<void>;
}>;

/** How long a stop waits for aborted items, in milliseconds. */
const abortedMs = 2_000;
/** How many stop requests are kept for items that this process has not started; the oldest are dropped first. */
const mostEarlyStops = 1_000;
/** Background runs that may be active per turn slot; most of them only wait for a model. */
const runsPerTurn = 4;
/** Waits before the next try while the store is away, in milliseconds. */
const awayMs = 2_000;
/** Waits before the next try, in milliseconds, by failed tries. */
const backoffMs: Readonly<Record<number, number>> = { 0: 2_000, 1: 2_000, 2: 15_000 };

type InboxWorkerOptions = Readonly<{
  handle: Handle;
  /** Whether work on the item was stored since `at` (Unix ms). Such a try does not count towards `mostTries` (Q3). */
  progressed(item: InboxItem, at: number): Promise<boolean>;
  /** Tells the person that the item is dead-lettered. Is called again if the process ends before that is stored. */
  onDead(item: InboxItem, error: unknown): Promise<void>;
  channels: readonly string[];
  concurrency: number;
  mostTries?: (key: string) => number;
}>;

type InboxWorkerHost = Readonly<{
  store: Pick<Store, 'inbox' | 'signals'> &
    Readonly<{
      pendingRequests: Store['pendingRequests'];
      keyed(namespace: 'deaths'): Values;
    }>;
  clock: Clock;
  log: Log;
}>;

/**
 * Handles a queue's items one after the other, and up to `concurrency` queues in parallel (Q3). `handle` may be
 * repeated (Q5).
 */
export function createInboxWorker(options: InboxWorkerOptions, host: InboxWorkerHost): InboxWorker {
  const { channels, concurrency } = options;
  const { inbox, signals } = host.store;
  const { clock } = host;
  const running = createRunningItems(signals);
  const stopping = new AbortController();
  const { run, storeWasAway } = createRunQueue(options, { ...host, running, stopping: stopping.signal });
  let workers: readonly QueueWorker[] = [];

  return {
    start() {
      const beside = channels.map((channel) => `${channel}~`);
      // Background runs have their own slots, so they never delay people (U9).
      workers = [
        inbox.startWorker({ channels, concurrency, run }),
        inbox.startWorker({ channels: beside, concurrency: runsPerTurn * concurrency, run }),
      ];
    },
    async idle() {
      for (const worker of [...workers, ...workers]) await worker.idle();
    },
    storeWasAway,
    async stop(graceMs) {
      stopping.abort();
      const ended = Promise.all(workers.map((worker) => worker.stop()));
      const late = new AbortController();
      const grace = clock.sleep(graceMs, late.signal).then(
        () => running.abortAll(shutdownReason()),
        () => undefined,
      );
      await Promise.race([ended, grace]);
      late.abort();
      await Promise.race([ended, clock.sleep(abortedMs)]);
      running.close();
    },
  };
}

type RunningItems = Readonly<{
  /** Its signal aborts when a person stops the item, at once if they did before it started. */
  begin(item: InboxItem): AbortController;
  end(item: InboxItem): void;
  abortAll(reason: unknown): void;
  close(): void;
}>;

/** Knows the items that run in this process, and aborts those that a person stops. */
function createRunningItems(signals: Store['signals']): RunningItems {
  const running = new Map<string, AbortController>();
  const early = new Set<string>();
  // Any process may send a stop request, so each of them listens (Q9).
  const close = signals.on('stop', (key) => {
    const abort = running.get(key);
    if (abort !== undefined) return abort.abort(stoppedByPerson());
    // The item is not started yet, or it runs in another process.
    early.add(key);
    for (const oldest of early) if (early.size > mostEarlyStops) early.delete(oldest);
  });

  return {
    begin({ key, stopped }) {
      const abort = new AbortController();
      running.set(key, abort);
      if (early.delete(key) || stopped === true) abort.abort(stoppedByPerson());
      return abort;
    },
    end: ({ key }) => void running.delete(key),
    abortAll(reason) {
      for (const abort of running.values()) abort.abort(reason);
    },
    close,
  };
}

/** Makes the function that runs the next item of a queue. Its signal aborts when this process loses the queue. */
function createRunQueue(
  options: InboxWorkerOptions,
  host: InboxWorkerHost & Readonly<{ running: RunningItems; stopping: AbortSignal }>,
): Readonly<{
  run(queue: string, lost: AbortSignal): Promise<void>;
  storeWasAway: InboxWorker['storeWasAway'];
}> {
  const { handle, progressed, mostTries = () => 3 } = options;
  const { store, clock, log, running, stopping } = host;
  const { inbox, pendingRequests } = store;
  const { fail, deadLetter } = createFailItem({ ...options, mostTries }, { inbox, clock, log });
  const suspects = createSuspects(
    {
      inbox,
      stored: store.keyed('deaths'),
      // An item that waits for a person's answer can't be what ended the process.
      progressed: async (item, at) =>
        (await pendingRequests.open(item.message.conversation)).length > 0 || progressed(item, at),
      deadLetter,
      mostTries,
    },
    { clock, log },
  );

  return { run: next, storeWasAway: suspects.acquitAll };

  async function next(queue: string, lost: AbortSignal): Promise<void> {
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
    const abort = running.begin(item);
    const stopListening = onAbort(lost, () => abort.abort(shutdownReason()));
    const startedAt = clock.now();
    try {
      await handle(item, abort.signal);
    } catch (error) {
      if (error instanceof NewerRow) throw error;
      const lostQueue = 'a queue was lost: its next holder continues with its message';
      if (lost.aborted) log.warn({ err: error, message: item.key }, lostQueue);
      // A shutdown is no failure, so this try does not count (Q7).
      else if (stopping.aborted) await inbox.postpone(item.key, 'cut off by a shutdown', clock.now());
      else await fail(item, error, startedAt);
    } finally {
      running.end(item);
      stopListening();
    }
  }
}

/** Makes the functions that follow a failed try: another try later, or none. */
function createFailItem(
  {
    progressed,
    onDead,
    mostTries,
  }: Required<Pick<InboxWorkerOptions, 'progressed' | 'onDead' | 'mostTries'>>,
  { inbox, clock, log }: Readonly<{ inbox: Store['inbox']; clock: Clock; log: Log }>,
) {
  return {
    async fail(item: InboxItem, error: unknown, startedAt: number): Promise<void> {
      const reason = error instanceof Error ? error.message : String(error);
      // The store is away, so the item waits until it is back (Q11).
      if (storeFault(error) !== undefined) return inbox.postpone(item.key, reason, clock.now() + awayMs);
      const further = await progressed(item, startedAt);
      const most = mostTries(item.key);
      const tries = item.tries + (further && most > 1 ? 0 : 1);
      log.error({ err: error, message: item.key, tries }, 'could not answer a message');
      if (tries >= most) return deadLetter(item, error);
      const retryAt = clock.now() + (backoffMs[tries] ?? 0);
      await (further ? inbox.postpone(item.key, reason, retryAt) : inbox.fail(item.key, reason, retryAt));
    },
    deadLetter,
  };

  async function deadLetter(item: InboxItem, error: unknown): Promise<void> {
    // The person is notified first: after the next line nobody looks at the item again.
    await onDead(item, error);
    await inbox.fail(item.key, error instanceof Error ? error.message : String(error), undefined);
  }
}

function stoppedByPerson(): DOMException {
  return new DOMException('stopped by a person', 'AbortError');
}

export function wasStarted({ interruptedAt, error }: InboxItem): boolean {
  return interruptedAt !== undefined || error !== undefined;
}

export async function transcriptOf(
  { conversation }: Message,
  { store, migrations }: Readonly<{ store: Store; migrations: ChatMigrations }>,
): Promise<string> {
  return store.transcripts.current(conversationKey(await migrations.original(conversation)));
}

import { setTimeout as delay } from 'node:timers/promises';
import { queueChannel } from '../queue-channel.ts';
import { NewerRow } from '../newer-row.ts';
import { createScheduler } from '../scheduler.ts';
import type { PostgresParts } from './create-postgres-store.ts';
import type { Announcer } from './create-notify-bus.ts';
import { createGiveBack, type GiveBackOutcome } from './create-give-back.ts';
import type { Heartbeat } from './create-heartbeat.ts';
import { createLease, type Claim, type QueueKind, type Lease } from './lease.ts';
import { makeDueNow, waitingRows } from './sweep-queues.ts';
import type { WorkerOptions, QueueWorker } from '../store.ts';
import { onAbort } from '../../lib/async/on-abort.ts';

type StartWorker = (options: WorkerOptions) => QueueWorker;

const regularlyMs = 5_000;
const afterFaultMs = 1_000;
/** Milliseconds before a queue is assigned again, by the reason why it ended. */
const waitsMs = { none: 0, fault: afterFaultMs, newer: 200 } as const;
type Refusal = Exclude<keyof typeof waitsMs, 'none'>;
/** How many items of one queue run in a row while others wait. Otherwise they run for up to `longestMs`. */
const inARow = 3;
const longestMs = 60 * 60_000;
const timerSlackMs = 10;
const newerQuietMs = 60_000;

type WorkerDeps = Readonly<{
  kind: QueueKind;
  backing: PostgresParts;
  announcer: Announcer;
  heartbeat: Heartbeat;
  closed: AbortSignal;
}>;

/**
 * Assigns each queue to one process at a time (Q9). pg-boss decides whose a queue is. This file decides when to ask,
 * and returns queues so that no waiting item is without a job.
 */
export function createPostgresWorker(deps: WorkerDeps): StartWorker {
  const close = createGiveBack(deps.backing, deps.kind);
  return (options) => startWorker(options, { ...deps, close });
}

function startWorker(
  { channels, concurrency, run }: WorkerOptions,
  deps: WorkerDeps & Readonly<{ close: ReturnType<typeof createGiveBack> }>,
): QueueWorker {
  const { kind, backing, announcer, heartbeat, closed, close } = deps;
  const { database, jobs, leases, clock, log } = backing;
  const active = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  const later = new Set<number>();
  const asking = createAsking(channels);
  const state = { seenAt: clock.now(), nextAt: 0, quietUntil: 0 };
  const scheduler = createScheduler({ look, what: `the ${kind}`, clock, log });

  function wake(): void {
    asking.want();
    scheduler.wake();
  }

  async function look(): Promise<number> {
    await mindClock();
    if (clock.now() >= state.nextAt) asking.want();
    try {
      await jobs.prepareChannels(kind, channels);
      for (const channel of asking.next()) asking.asked(channel, await claimFrom(channel));
    } catch (error) {
      asking.want();
      throw error;
    }
    state.nextAt = nextLook();
    return state.nextAt;
  }

  /** Claims queues of a channel. True if there may be more. */
  async function claimFrom(channel: string): Promise<boolean> {
    for (;;) {
      const room = concurrency - active.size;
      if (room <= 0 || stopping.signal.aborted) return true;
      const since = performance.now();
      const { claims, more } = await jobs.claim(kind, channel, room);
      for (const claim of claims) begin(claim, since);
      if (!more) return false;
    }
  }

  /** If the clock was set back, makes due what waits for the old time. */
  async function mindClock(): Promise<void> {
    const now = clock.now();
    const before = state.seenAt;
    state.seenAt = now;
    if (now >= before) return;
    later.clear();
    await makeDueNow(backing, now, now);
  }

  function nextLook(): number {
    const now = clock.now();
    for (const at of later) if (at <= now) later.delete(at);
    return Math.min(now + regularlyMs, ...later);
  }

  function begin(claim: Claim, since: number): void {
    const lease = createLease(claim);
    heartbeat.keep(lease, since);
    const before = active.get(claim.queue);
    const ended = hold(lease, before).finally(() => {
      lease.release();
      if (active.get(claim.queue) === ended) active.delete(claim.queue);
      if (asking.wantMore()) scheduler.wake();
    });
    active.set(claim.queue, ended);
  }

  /**
   * Works on a queue until nothing is due. `before` is an earlier turn of this queue that was lost and still runs.
   */
  async function hold(lease: Lease, before: Promise<void> | undefined): Promise<void> {
    await before;
    const since = performance.now();
    for (let turns = 1; ; turns++) {
      const idle = stopping.signal.aborted || lease.state() === 'lost';
      const refusal = idle ? undefined : await refuses(lease);
      const yields = (asking.crowded() && turns >= inARow) || performance.now() - since > longestMs;
      const outcome = await giveBack(lease, { refusal, yields });
      // A process that can't read a row looks again only by chance, so that others are sooner (Q15).
      if (outcome.next === 'later' && refusal !== 'newer') putOff(outcome.inMs, [lease.claim.queue]);
      if (outcome.next !== 'again') return;
    }
  }

  async function refuses(lease: Lease): Promise<Refusal | undefined> {
    try {
      await leases.under(lease, () => run(lease.claim.queue, lease.lost));
      return undefined;
    } catch (error) {
      log[levelOf(error, lease)](
        { err: error, queue: lease.claim.queue },
        `the ${kind}: a queue could not go on; it is tried again`,
      );
      return error instanceof NewerRow ? 'newer' : 'fault';
    }
  }

  /**
   * The log level of a failure. Rows of a newer version may wait long for its process, so there is one warning a
   * minute (Q15).
   */
  function levelOf(error: unknown, lease: Lease): 'debug' | 'warn' | 'error' {
    if (lease.state() === 'lost') return 'debug';
    if (!(error instanceof NewerRow)) return 'error';
    if (clock.now() < state.quietUntil) return 'debug';
    state.quietUntil = clock.now() + newerQuietMs;
    return 'warn';
  }

  /**
   * Tries until it works or the queue is lost, because without the database nobody else can take it. A queue lost
   * with the epoch is returned, too, so that it need not wait for its heartbeat.
   */
  async function giveBack(
    lease: Lease,
    { refusal, yields }: Readonly<{ refusal: Refusal | undefined; yields: boolean }>,
  ): Promise<GiveBackOutcome> {
    const { claim } = lease;
    for (;;) {
      const lost = lease.state() === 'lost';
      try {
        await heartbeat.pause(lease);
        const ends = yields || lost || stopping.signal.aborted;
        const outcome = await close({
          claim,
          yields: ends,
          waitMs: lost ? waitsMs.fault : waitsMs[refusal ?? 'none'],
        });
        if (outcome.next === 'lost') lease.lose();
        if (outcome.next === 'again') heartbeat.resume(lease);
        return outcome;
      } catch (error) {
        log.debug({ err: error, queue: claim.queue }, 'a queue could not be given back yet');
        if (lost) return { next: 'gone' };
        await delay(afterFaultMs, undefined, { ref: false });
      }
    }
  }

  function putOff(inMs: number, queues?: readonly string[]): void {
    if (stopping.signal.aborted) return announcer.announce(kind, queues, inMs);
    // A timer may fire early, but the server's clock does not.
    if (inMs > 0) later.add(clock.now() + inMs + timerSlackMs);
    else asking.want(queues?.map(servedUnder));
    scheduler.wake();
  }

  async function anyDue(): Promise<boolean> {
    const { rows } = await database.query<Readonly<{ queue: string; at: number }>>(
      `SELECT queue, skillet.head_due($2, queue) AS at FROM (SELECT DISTINCT queue FROM ${waitingRows[kind]}
         AND split_part(queue, ':', 1) = ANY($1)) AS waiting`,
      [channels.map((channel) => encodeURIComponent(channel.replace(/~$/, ''))), kind],
    );
    return rows.some(({ queue, at }) => channels.includes(servedUnder(queue)) && at <= clock.now());
  }

  function giveOutNoMore(): void {
    stopping.abort();
    unhear();
    scheduler.stop();
  }

  const unhear = announcer.on(kind, (queues, inMs) => putOff(inMs, queues));
  const stopListening = onAbort(closed, giveOutNoMore);
  wake();
  return {
    wake,
    async idle() {
      for (;;) {
        wake();
        await scheduler.looked();
        if (active.size > 0) await Promise.race(active.values());
        else if (!(await anyDue())) return;
        else await delay(20);
      }
    },
    async stop() {
      stopListening();
      giveOutNoMore();
      await scheduler.looked();
      await Promise.all(active.values());
    },
  };
}

function servedUnder(queue: string): string {
  return decodeURIComponent(queueChannel(queue));
}

/** Decides which channels to ask next: those that were named, and those that had more than there was room for. */
type Asking = Readonly<{
  want(names?: readonly string[]): void;
  /** Asks full channels again, because there is room. False if no channel had more. */
  wantMore(): boolean;
  crowded(): boolean;
  /** The channels to ask, beginning with another one each time, so that none takes all the room. */
  next(): readonly string[];
  asked(channel: string, hasMore: boolean): void;
}>;

function createAsking(channels: readonly string[]): Asking {
  const wanted = new Set(channels);
  const crowded = new Set<string>();
  const state = { first: 0 };

  return {
    want(names = channels) {
      for (const name of names) if (channels.includes(name)) wanted.add(name);
    },
    wantMore() {
      for (const name of crowded) wanted.add(name);
      return crowded.size > 0;
    },
    crowded: () => crowded.size > 0,
    next() {
      state.first = (state.first + 1) % Math.max(1, channels.length);
      const inTurn = [...channels.slice(state.first), ...channels.slice(0, state.first)];
      const now = inTurn.filter((channel) => wanted.has(channel));
      wanted.clear();
      return now;
    },
    asked(channel, hasMore) {
      if (hasMore) crowded.add(channel);
      else crowded.delete(channel);
    },
  };
}

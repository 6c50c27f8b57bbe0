import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Inbox, InboxItem } from '../store/inbox.ts';
import type { Values } from '../store/patient-keyed.ts';

/** The process ended repeatedly while it worked on a message, and did not end without that message (S15). */
export class ProcessEnded extends Error {}

/**
 * Finds the message that makes the process end. That one is dead-lettered; messages that only ran beside it are not.
 */
export type Suspects = Readonly<{
  /** Runs a taken item, alone if it is suspected. May also postpone or dead-letter it instead. */
  carryOut(item: InboxItem, run: (item: InboxItem) => Promise<void>): Promise<void>;
  /** Call when the cause of interruptions is known to be elsewhere: for ten minutes no message is accused. */
  acquitAll(): Promise<void>;
}>;

/**
 * What a row says about deaths of the process under its message. It is stored as the row's error, so both stores keep
 * it and operators can read it.
 * `count`: a death counts 1; it counts a quarter if the message had progressed or did not run alone.
 */
type Deaths = Readonly<{
  count: number;
  now: 'suspect' | 'alone' | Readonly<{ since: number; until: number }>;
}>;

const untilAlone = 1;
const untilHeld = 2;
const slightly = 0.25;
/** A suspect that runs longer than this no longer keeps other suspects waiting. */
const trialMs = 60_000;
const waitMs = 1_000;
/** How long the process has to live without a suspect: twice as long as it lived with it, within these bounds. */
const heldMs = { least: 15_000, most: 5 * 60_000 } as const;
const longestPauseMs = 60_000;
/** After the process died without its suspect, the cause is elsewhere: for this long no message is accused. */
const outsideMs = 10 * 60_000;

/**
 * A message is suspected after one death, and then runs alone. If the process dies again, the message is held: it waits
 * to see whether the process lives without it. If it lives, the message is guilty; if it dies, the cause is outside, and
 * suspects are retried with growing pauses.
 */
export function createSuspects(
  options: Readonly<{
    inbox: Inbox;
    /** Values that are kept when the process restarts. */
    stored: Values;
    progressed(item: InboxItem, at: number): Promise<boolean>;
    deadLetter(item: InboxItem, error: Error): Promise<void>;
    mostTries(key: string): number;
  }>,
  { clock, log }: Readonly<{ clock: Clock; log: Log }>,
): Suspects {
  const { inbox, stored, progressed, deadLetter, mostTries } = options;
  const bornAt = clock.now();
  const alone = new Map<'run' | 'message', string>();
  /** Until when (Unix ms) each held item waits, by key. */
  const held = new Map<string, number>();
  let lastInterrupted = 0;

  async function died(item: InboxItem, at: number, known: Deaths | undefined): Promise<void> {
    lastInterrupted = Math.max(lastInterrupted, at);
    const further = await progressed(item, at);
    const isCharged = known === undefined || known.count < untilAlone || known.now === 'alone';
    const count = (known?.count ?? 0) + (further || !isCharged ? slightly : 1);
    const now = clock.now();
    if (count < untilHeld) return postpone(item, { count, now: 'suspect' }, now);
    if (await isOutside(now)) return pause(item, count);
    const ms = Math.min(Math.max(2 * (now - at), heldMs.least), heldMs.most);
    return hold(item, { count, now: { since: now, until: now + ms } });
  }

  async function wait(item: InboxItem, known: Deaths & Readonly<{ now: object }>): Promise<void> {
    const { since, until } = known.now;
    // An item with a time of interruption was taken only to be dead-lettered, when that was cut off.
    const judged = item.interruptedAt !== undefined;
    if (!judged && Math.max(bornAt, lastInterrupted) > since) {
      held.delete(item.key);
      log.warn({ message: item.key }, 'the process ends without its suspect, too: the cause is elsewhere');
      await acquitAll();
      return pause(item, known.count);
    }
    if (!judged && clock.now() < until) return hold(item, known);
    held.delete(item.key);
    return deadLetter(item, new ProcessEnded(`the process ended under this (${known.count}×)`));
  }

  function hold(item: InboxItem, deaths: Deaths & Readonly<{ now: object }>): Promise<void> {
    held.set(item.key, deaths.now.until);
    return postpone(item, deaths, deaths.now.until);
  }

  function pause(item: InboxItem, count: number): Promise<void> {
    const ms = Math.min(1_000 * 2 ** count, longestPauseMs);
    return postpone(item, { count, now: 'suspect' }, clock.now() + ms);
  }

  function postpone({ key }: InboxItem, deaths: Deaths, at: number): Promise<void> {
    return inbox.postpone(key, written(deaths), at);
  }

  async function acquitAll(): Promise<void> {
    await stored.set('outside', clock.now());
  }

  async function isOutside(now: number): Promise<boolean> {
    const at = await stored.get<number>('outside');
    return at !== undefined && now - at < outsideMs;
  }

  async function runAlone(item: InboxItem, deaths: Deaths, run: (item: InboxItem) => Promise<void>) {
    const now = clock.now();
    const kind = item.message.task?.kind === 'run' ? 'run' : 'message';
    const waits = [...held.values()].some((until) => until > now) || alone.has(kind);
    if (waits) return postpone(item, deaths, now + waitMs);
    alone.set(kind, item.key);
    const free = (): void => {
      if (alone.get(kind) === item.key) alone.delete(kind);
    };
    const over = new AbortController();
    clock.sleep(trialMs, over.signal).then(free, () => undefined);
    try {
      await postpone(item, { ...deaths, now: 'alone' }, now);
      const again = await inbox.take(item.queue, now);
      if (again !== undefined) await run(again);
    } finally {
      over.abort();
      free();
    }
  }

  return {
    acquitAll,
    async carryOut(item, run) {
      const { interruptedAt: at, error } = item;
      const known = readDeaths(error);
      if (known !== undefined && typeof known.now === 'object')
        return wait(item, { ...known, now: known.now });
      if (at !== undefined && mostTries(item.key) > 1) return died(item, at, known);
      if (at !== undefined && !(await progressed(item, at)))
        return deadLetter(item, new ProcessEnded('the process ended under this'));
      if (known === undefined || known.count < untilAlone) return run(item);
      if (known.count < untilHeld && (await isOutside(clock.now()))) return run(item);
      return runAlone(item, known, run);
    },
  };
}

const said = 'the process ended while this was answered';

function written({ count, now }: Deaths): string {
  const base = `${said} (${count}×)`;
  if (now === 'suspect') return base;
  if (now === 'alone') return `${base}: it is answered alone`;
  return `${base}: it waits from ${iso(now.since)} to ${iso(now.until)}, to see whether the process lives without it`;
}

function readDeaths(error = ''): Deaths | undefined {
  if (!error.startsWith(said)) return undefined;
  const count = Number(/\((\d+(?:\.\d+)?)×\)/.exec(error)?.[1]);
  const [, since, until] = /: it waits from (\S+) to (\S+),/.exec(error) ?? [];
  if (since !== undefined && until !== undefined)
    return { count, now: { since: Date.parse(since), until: Date.parse(until) } };
  return { count, now: error.endsWith(': it is answered alone') ? 'alone' : 'suspect' };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

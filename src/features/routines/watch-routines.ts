import type { ChatMigrations } from '../../access/chat-migrations.ts';
import type { AuditWriter } from '../../audit/create-audit.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Routine } from '../../store/routines.ts';
import { createScheduler } from '../../store/scheduler.ts';
import type { Store } from '../../store/store.ts';
import { missedTimes, nextTime } from './due-times.ts';
import { firingKey, firingMessage } from './routine-message.ts';

export type RoutineHost = Readonly<{
  store: Store;
  migrations: ChatMigrations;
  audit: AuditWriter;
  clock: Clock;
  log: Log;
}>;

export type RoutineWatch = Readonly<{
  start(): void;
  stop(): Promise<void>;
  /** Resolves once no routine is due at the moment. */
  idle(): Promise<void>;
}>;

const page = 50;
/** The scheduler looks at least this often, because the clock may be set and signals may be lost. */
const longestSleepMs = 60_000;
const againMs = 1_000;
/** With `catch_up = "none"`, a time counts as missed after this. */
const freshMs = 5 * 60_000;
/** With `catch_up = "all"`, only so many missed times are made up for; older ones are left out. */
const mostCaughtUp = 24;

/** Fires routines that are due, in any number of processes, each time exactly once (N1, N5). */
export function watchRoutines(host: RoutineHost): RoutineWatch {
  const { store, clock, log } = host;

  async function look(): Promise<number> {
    for (;;) {
      const due = await store.routines.due(clock.now(), page);
      for (const routine of due) await fireDue(routine, host);
      // Others may have become due in the meantime.
      if (due.length === 0) break;
    }
    const now = clock.now();
    const next = (await store.routines.nextDue()) ?? Infinity;
    // A row that is still due after a look is damaged, so it is tried again in a second.
    return next > now ? Math.min(next, now + longestSleepMs) : now + againMs;
  }

  const scheduler = createScheduler({ look, what: 'the routines', clock, log });
  let silence = (): void => undefined;
  return {
    start() {
      silence = store.signals.on('routines', scheduler.wake);
      scheduler.wake();
    },
    async stop() {
      silence();
      scheduler.stop();
      await scheduler.looked();
    },
    async idle() {
      scheduler.wake();
      await scheduler.looked();
    },
  };
}

/**
 * Does one step of a routine that is due. If times were missed, another process or the next look does the next step.
 */
export async function fireDue(routine: Routine, host: RoutineHost): Promise<void> {
  const { clock, log } = host;
  const { id, dueAt, definition } = routine;
  if (dueAt === undefined) return;
  const { when, timezone, catchUp } = definition;
  // The clock may have been set back since the routine was found due.
  const now = Math.max(clock.now(), dueAt);
  const missed = missedTimes(when, timezone, { due: dueAt, now });
  const next = nextTime(when, timezone, now);
  const last = missed.at(-1) ?? dueAt;
  if (when.kind === 'once' || missed.length === 1)
    return now - dueAt > freshMs && when.kind !== 'once' && catchUp === 'none'
      ? skip(routine, missed, next, host)
      : fire(routine, { due: dueAt, to: next }, host);
  log.info({ routine: id, missed: missed.length, catchUp }, 'a routine missed some of its times');
  if (catchUp === 'one') return fire(routine, { due: dueAt, to: next, missed: missed.length }, host);
  if (catchUp === 'none') {
    const isFresh = now - last <= freshMs;
    return skip(routine, isFresh ? missed.slice(0, -1) : missed, isFresh ? last : next, host);
  }
  const surplus = missed.length - mostCaughtUp;
  if (surplus > 0) return skip(routine, missed.slice(0, surplus), missed[surplus], host);
  return fire(routine, { due: dueAt, to: missed[1] }, host);
}

async function fire(
  routine: Routine,
  { due, to, missed }: Readonly<{ due: number; to: number | undefined; missed?: number }>,
  { store, migrations, audit, clock }: RoutineHost,
): Promise<void> {
  const { id, definition } = routine;
  const place = await migrations.current(definition.conversation);
  const of = { key: firingKey(id, due), place, now: clock.now(), due, missed };
  const fired = await store.fire({ id, message: firingMessage(routine, of), moves: { from: due, to } });
  if (fired) await audit.record(routineEvent(routine, 'fired'));
}

/** Leaves times out. The next firing says so (N5). */
async function skip(
  { id, dueAt = 0 }: Routine,
  times: readonly number[],
  to: number | undefined,
  { store, clock }: RoutineHost,
): Promise<void> {
  const note = String(times.length);
  const last = { key: firingKey(id, dueAt), due: dueAt, at: clock.now(), how: 'skipped', note } as const;
  await store.routines.skip(id, { from: dueAt, to }, last);
}

type RoutineEvent = Extract<Parameters<AuditWriter['record']>[0], { event: 'routine' }>;

export function routineEvent(
  { id, definition }: Pick<Routine, 'id' | 'definition'>,
  verdict: RoutineEvent['verdict'],
  by?: string,
): RoutineEvent {
  const { creator, conversation } = definition;
  return {
    event: 'routine',
    verdict,
    id,
    sender: creator.id,
    conversation: conversationKey(conversation),
    by,
  };
}

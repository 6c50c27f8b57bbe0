import { createHash } from 'node:crypto';
import { conversationKey } from '../../core/conversation.ts';
import type { Requester } from '../../core/tool.ts';
import type { Routine } from '../../store/routines.ts';
import type { Store } from '../../store/store.ts';
import { defineRoutine, refused, type BookDeps, type Booked, type RoutineWish } from './define-routine.ts';
import { nextTime } from './due-times.ts';
import { firingKey, firingMessage } from './routine-message.ts';
import { routineEvent } from './watch-routines.ts';

type By = Pick<Requester, 'sender'>;
type WriteDeps = Pick<BookDeps, 'audit' | 'clock'> & Readonly<{ store: Store }>;

/** The id of a new routine. A repeated call has the same id, so that it adds once (Q5). */
export function routineId(turn: string, call: string): string {
  return createHash('sha256').update(`${turn} ${call}`).digest('hex').slice(0, 8);
}

export async function addRoutine(
  id: string,
  wish: RoutineWish & Readonly<{ when: string; task: string }>,
  requester: Requester,
  deps: BookDeps,
): Promise<Booked> {
  const { store, migrations, audit, clock } = deps;
  const made = await defineRoutine(wish, undefined, requester, deps);
  if (!made.ok) return made;
  const conversation = await migrations.original(requester.conversation);
  const definition = { ...made.definition, conversation };
  const dueAt = nextTime(definition.when, definition.timezone, clock.now());
  const { routines: most } = deps.runtime().config.limits;
  const routine = { id, definition, state: 'active', dueAt } as const;
  const added = await store.routines.add(routine, most);
  if (added === 'full')
    return refused(
      'LIMIT_REACHED',
      `This person has ${most} routines, the most allowed. They have to remove one first.`,
    );
  if (added === 'added') {
    await audit.record(routineEvent(routine, 'added', requester.sender));
    await store.signals.send('routines', id);
  }
  return { ok: true, routine: (await store.routines.find(id)) ?? { ...routine, failures: 0 } };
}

export async function changeRoutine(
  routine: Routine,
  wish: RoutineWish,
  requester: Requester,
  deps: BookDeps,
): Promise<Booked> {
  const made = await defineRoutine(wish, routine.definition, requester, deps);
  if (!made.ok) return made;
  const { definition } = made;
  // A time that has fired does not fire again, even if the clock was set back.
  const after = Math.max(deps.clock.now(), routine.last?.due ?? 0);
  const next = nextTime(definition.when, definition.timezone, after);
  const isRunning = routine.state === 'active' || (routine.state === 'ended' && wish.when !== undefined);
  const state = isRunning && next !== undefined ? 'active' : routine.state;
  return write(
    routine,
    { definition, state, dueAt: state === 'active' ? next : undefined },
    'changed',
    requester,
    deps,
  );
}

/** Pauses or resumes a routine. Its next time is counted from now, so what the pause left out is not made up for. */
export function pauseOrResume(
  routine: Routine,
  to: 'paused' | 'active',
  requester: By,
  deps: WriteDeps,
): Promise<Booked> {
  const { definition } = routine;
  const next = nextTime(definition.when, definition.timezone, deps.clock.now());
  const state = to === 'active' && next === undefined ? 'ended' : to;
  const dueAt = state === 'active' ? next : undefined;
  return write(
    routine,
    { definition, state, dueAt },
    to === 'paused' ? 'paused' : 'resumed',
    requester,
    deps,
  );
}

export async function removeRoutine(id: string, { sender }: By, { store, audit }: WriteDeps): Promise<void> {
  const gone = await store.routines.remove(id);
  if (gone !== undefined) await audit.record(routineEvent(gone, 'removed', sender));
}

/** Runs a routine now, once for each `press`. Returns false if it has already run for this one. */
export async function runNow(
  routine: Routine,
  press: string,
  by: Requester,
  deps: BookDeps,
): Promise<boolean> {
  const { store, migrations, audit, clock } = deps;
  const place = await migrations.current(routine.definition.conversation);
  const now = clock.now();
  const of = { key: firingKey(routine.id, press), place, now, due: now, byHand: true } as const;
  const fired = await store.fire({ id: routine.id, message: firingMessage(routine, of) });
  if (fired) await audit.record(routineEvent(routine, 'fired', by.sender));
  return fired;
}

/** In a direct message all routines of this person; elsewhere all of this chat. */
export async function routinesHere(
  { conversation, chatType, sender }: Requester,
  { store, migrations }: BookDeps,
): Promise<readonly Routine[]> {
  if (chatType === 'private') return store.routines.of(sender);
  const { channel, chat } = await migrations.original(conversation);
  return store.routines.within(conversationKey({ channel, chat }));
}

/** Whether the routine belongs to this very chat, because nothing said elsewhere may change what is said here (S14). */
export async function isHere(
  { definition }: Routine,
  { conversation }: Requester,
  { migrations }: BookDeps,
): Promise<boolean> {
  const { channel, chat } = await migrations.original(conversation);
  return definition.conversation.channel === channel && definition.conversation.chat === chat;
}

/** Finds a routine of this chat by id or name. Undefined: there is none. */
export async function findHere(
  named: string,
  requester: Requester,
  deps: BookDeps,
): Promise<Routine | undefined> {
  const here = await routinesHere(requester, deps);
  const name = named.trim().toLowerCase();
  return (
    here.find(({ id }) => id === name) ??
    here.find(({ definition }) => definition.name.toLowerCase() === name)
  );
}

/**
 * Whether this person may pause, resume or remove a routine: its creator and owners may. Callers refuse changes to a
 * routine of the config themselves.
 */
export async function mayManage(
  { definition }: Routine,
  sender: string,
  { users }: BookDeps,
): Promise<boolean> {
  return definition.creator.id === sender || (await users.isOwner(sender));
}

async function write(
  routine: Routine,
  to: Parameters<Store['routines']['change']>[1],
  verdict: 'changed' | 'paused' | 'resumed',
  { sender }: By,
  { store, audit }: Omit<WriteDeps, 'clock'>,
): Promise<Booked> {
  if (!(await store.routines.change(routine.id, to)))
    return refused('ARGUMENTS_INVALID', `There is no routine ${routine.id} any more.`);
  await audit.record(routineEvent({ ...routine, ...to }, verdict, sender));
  await store.signals.send('routines', routine.id);
  return { ok: true, routine: { ...routine, ...to } };
}

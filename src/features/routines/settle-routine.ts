import type { AuditWriter } from '../../audit/create-audit.ts';
import type { Button } from '../../core/channel.ts';
import type { Message } from '../../core/message.ts';
import { sayIn, type Say } from '../../core/texts/say.ts';
import type { Clock } from '../../lib/clock.ts';
import { inlineCode } from '../../lib/text/text.ts';
import type { Replies } from '../../replies/replies.ts';
import type { Routine, RoutineOutcome } from '../../store/routines.ts';
import type { Store } from '../../store/store.ts';
import { routineButtons } from './routine-buttons.ts';
import type { RoutineTask } from './routine-message.ts';
import { routineEvent } from './watch-routines.ts';

/** After so many failures in a row, a routine is paused (N4). */
const mostFailures = 3;

export type SettleDeps = Readonly<{
  store: Store;
  replies: Replies;
  audit: AuditWriter;
  clock: Clock;
}>;

type Fired = Readonly<{ message: Message; task: RoutineTask }>;

/**
 * Stores the outcome of a firing; the third failure in a row pauses the routine. Returns what is added to the answer.
 * May be repeated.
 */
export async function settleRoutine(
  fired: Fired,
  how: RoutineOutcome['how'],
  deps: SettleDeps,
): Promise<Readonly<{ note?: string; buttons?: readonly Button[] }>> {
  const { id } = fired.task;
  const failures = (await deps.store.routines.settle(id, outcomeOf(fired, how, deps))) ?? 0;
  const routine = await deps.store.routines.find(id);
  if (how !== 'failed' || failures < mostFailures || routine === undefined || routine.state === 'ended')
    return {};
  await pauseRoutine(routine, 'paused', deps);
  const say = sayIn(fired.message.sender.language);
  return {
    note: say`This failed ${failures} times in a row, so I paused it.`,
    buttons: routineButtons({ ...routine, state: 'paused' }, say),
  };
}

/**
 * Pauses a routine whose creator may no longer do this. The creator and the owners are told why (N3). May be repeated.
 */
export async function stopRoutine(
  fired: Fired,
  { why, isRemoved }: Readonly<{ why: (say: Say) => string; isRemoved: boolean }>,
  deps: SettleDeps,
): Promise<void> {
  const { message, task } = fired;
  const { store, replies } = deps;
  await store.routines.settle(task.id, outcomeOf(fired, 'stopped', deps, why(sayIn(undefined))));
  const routine = await store.routines.find(task.id);
  if (routine !== undefined) await pauseRoutine(routine, 'stopped', deps);
  const creator = message.sender.id;
  const isPublic = routine?.definition.fromConfig === true;
  const words = (named: string) => (say: Say) =>
    say`I paused the routine ${inlineCode(named)} of ${inlineCode(creator)}: ${why(say)}`;
  // The name that a person gave a routine stays between them and its conversation (U20, S8). A removed person is not
  // told (A9).
  await replies.tellOwners(`${message.id}!stopped`, words(isPublic ? task.name : task.id), {
    alsoTo: isRemoved ? [] : [creator],
    wordsToThem: words(task.name),
  });
  await store.commit({ done: message.id });
}

async function pauseRoutine(
  routine: Routine,
  verdict: 'paused' | 'stopped',
  { store, audit }: SettleDeps,
): Promise<void> {
  if (routine.state !== 'active') return;
  await store.routines.change(routine.id, { definition: routine.definition, state: 'paused' });
  await audit.record(routineEvent(routine, verdict));
}

function outcomeOf(
  { message, task }: Fired,
  how: RoutineOutcome['how'],
  { clock }: SettleDeps,
  note?: string,
): RoutineOutcome {
  return { key: message.id, due: task.due, at: clock.now(), how, note };
}

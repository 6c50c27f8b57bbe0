import { z } from 'zod';
import { conversationKey, isShared } from '../core/conversation.ts';
import { OperatorError } from '../core/errors.ts';
import { pauseOrResume, removeRoutine } from '../features/routines/routine-book.ts';
import type { Routine } from '../store/routines.ts';
import { direct } from './direct-words.ts';
import { changes, reads, target, unnamed, type OperateDeps } from './operation.ts';
import { skilletHere } from '../core/skillet-here.ts';

/**
 * What an operator sees of a routine. Its task belongs to its creator, so it is left out. Times are in Unix
 * milliseconds.
 */
export type RoutineRow = Readonly<{
  id: string;
  name: string;
  creator: string;
  conversation: string;
  state: Routine['state'];
  next?: number;
  last?: Readonly<{ at: number; how: string }>;
  failures: number;
  /** True if the config sets it up. */
  isFixed: boolean;
}>;

export const routineOperations = {
  'routine list': reads(z.undefined(), async (_, { store }) => (await store.routines.all()).map(toRow)),
  /** Pauses a routine. `by` is who did it, for the audit. */
  'routine pause': changes(target, (of, deps) => turn('paused', of, deps)),
  'routine resume': changes(target, (of, deps) => turn('active', of, deps)),
  'routine remove': changes(target, async ({ id, by = unnamed }, deps) => {
    const { definition } = await find(id, deps);
    if (definition.fromConfig === true)
      throw new OperatorError(`${id} is set up in config.toml: remove it there`);
    await removeRoutine(id, { sender: by }, deps);
    return { removed: id };
  }),
};

function toRow({ id, definition, state, dueAt, last, failures }: Routine): RoutineRow {
  const { name, fromConfig, creator, conversation } = definition;
  const isFixed = fromConfig === true;
  return {
    ...{ id, state, next: dueAt, failures, isFixed },
    name: isFixed || isShared(definition) ? name : direct,
    creator: creator.id,
    conversation: conversationKey(conversation),
    last: last && { at: last.at, how: last.how },
  };
}

async function turn(
  to: 'paused' | 'active',
  { id, by = unnamed }: z.output<typeof target>,
  deps: OperateDeps,
): Promise<Readonly<{ id: string; state: Routine['state']; next?: number }>> {
  const routine = await find(id, deps);
  if (routine.state === 'ended') throw new OperatorError(`${id} has ended: it has no more times`);
  if (routine.state === to) return { id, state: to, next: routine.dueAt };
  const booked = await pauseOrResume(routine, to, { sender: by }, deps);
  if (!booked.ok) throw new OperatorError(booked.problem);
  return { id, state: booked.routine.state, next: booked.routine.dueAt };
}

async function find(id: string, { store }: OperateDeps): Promise<Routine> {
  const routine = await store.routines.find(id);
  if (routine === undefined)
    throw new OperatorError(`there is no routine ${id}: see \`${skilletHere()} routines\``);
  return routine;
}

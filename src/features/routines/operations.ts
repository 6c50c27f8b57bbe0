import type { z } from 'zod';
import { conversationKey, isShared } from '../../core/conversation.ts';
import { OperatorError } from '../../core/errors.ts';
import { pauseOrResume, removeRoutine } from './routine-book.ts';
import type { Routine } from '../../store/routines.ts';
import type { Desk } from '../../app.ts';
import { changes, direct, noInput, reads, target, unnamed } from '../../core/operation.ts';
import { skilletHere } from '../../core/skillet-here.ts';

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

/** What operators can do about routines. */
export function routineOperations(desk: Desk) {
  return {
    'routine list': reads(noInput, async () => (await desk.store.routines.all()).map(toRow)),
    /** Pauses a routine. `by` is who did it, for the audit. */
    'routine pause': changes(target, (of) => turn('paused', of, desk)),
    'routine resume': changes(target, (of) => turn('active', of, desk)),
    'routine remove': changes(target, async ({ id, by = unnamed }) => {
      const { definition } = await find(id, desk);
      if (definition.fromConfig === true)
        throw new OperatorError(`${id} is set up in config.toml: remove it there`);
      await removeRoutine(id, { sender: by }, desk);
      return { removed: id };
    }),
  };
}

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
  desk: Desk,
): Promise<Readonly<{ id: string; state: Routine['state']; next?: number }>> {
  const routine = await find(id, desk);
  if (routine.state === 'ended') throw new OperatorError(`${id} has ended: it has no more times`);
  if (routine.state === to) return { id, state: to, next: routine.dueAt };
  const booked = await pauseOrResume(routine, to, { sender: by }, desk);
  if (!booked.ok) throw new OperatorError(booked.problem);
  return { id, state: booked.routine.state, next: booked.routine.dueAt };
}

async function find(id: string, { store }: Desk): Promise<Routine> {
  const routine = await store.routines.find(id);
  if (routine === undefined)
    throw new OperatorError(`there is no routine ${id}: see \`${skilletHere()} routines\``);
  return routine;
}

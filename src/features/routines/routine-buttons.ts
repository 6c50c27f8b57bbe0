import type { Button } from '../../core/channel.ts';
import type { Say } from '../../core/texts/say.ts';
import type { Routine } from '../../store/routines.ts';

export const routinePrefix = 'routine';
export const routineActions = ['run', 'pause', 'resume', 'remove'] as const;
export type RoutineAction = (typeof routineActions)[number];

/** The buttons of a routine. One that the config sets up can only be run by hand. */
export function routineButtons({ id, state, definition }: Routine, say: Say): readonly Button[] {
  const labels: Readonly<Record<RoutineAction, string>> = {
    run: say`Run now`,
    pause: say`Pause`,
    resume: say`Resume`,
    remove: say`Remove`,
  };
  const toggle = state === 'active' ? 'pause' : 'resume';
  const own: readonly RoutineAction[] = state === 'ended' ? ['remove'] : [toggle, 'remove'];
  const offered: readonly RoutineAction[] = definition.fromConfig === true ? ['run'] : ['run', ...own];
  return offered.map((action) => ({ label: labels[action], action: `${routinePrefix}:${action}:${id}` }));
}

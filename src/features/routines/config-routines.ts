import type { Config } from '../../config/complete-config.ts';
import { conversationOf } from '../../config/hook-sections.ts';
import { operatorZone } from '../../core/local-time.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Routine, RoutineDefinition } from '../../store/routines.ts';
import type { Store } from '../../store/store.ts';
import { nextTime } from './due-times.ts';
import { readWhen } from './read-when.ts';

type Written = Config['routines'][number];

/**
 * Brings the store in line with `[[routines]]` (N2). A routine that did not change keeps its due time and its last
 * outcome.
 */
export async function followConfig(
  config: Config,
  { store, clock, log }: Readonly<{ store: Store; clock: Clock; log: Log }>,
): Promise<void> {
  const { routines } = store;
  const known = (await routines.all()).filter(({ definition }) => definition.fromConfig === true);
  const isKept = ({ id, definition }: Routine): boolean =>
    config.routines.some((written) => idOf(written) === id && written.as === definition.creator.id);
  for (const one of known) if (!isKept(one)) await routines.remove(one.id);
  for (const written of config.routines) {
    const before = known.find((one) => one.id === idOf(written) && isKept(one));
    const definition = define(written, before, config, { now: clock.now(), log });
    if (definition === undefined) continue;
    const isSame = before !== undefined && JSON.stringify(before.definition) === JSON.stringify(definition);
    if (isSame && before.state === 'active') continue;
    const after = Math.max(clock.now(), before?.last?.due ?? 0);
    const dueAt = nextTime(definition.when, definition.timezone, after);
    const to = { definition, state: dueAt === undefined ? 'ended' : 'active', dueAt } as const;
    if (isSame && (before.state === 'ended' || before.last?.how !== 'stopped')) continue;
    if (!(await routines.change(idOf(written), to)))
      await routines.add({ id: idOf(written), ...to }, Number.MAX_SAFE_INTEGER);
  }
  await store.signals.send('routines', '');
}

function idOf({ name }: Written): string {
  return `config-${name}`;
}

function define(
  written: Written,
  before: Routine | undefined,
  { bot }: Config,
  { now, log }: Readonly<{ now: number; log: Log }>,
): RoutineDefinition | undefined {
  const { name, as, task, skill, catchUp } = written;
  const timezone = written.timezone ?? operatorZone({ bot });
  const createdAt = before?.definition.createdAt ?? now;
  const problem = (why: string): undefined => {
    log.error({ routine: name }, `[[routines]] ${name} does not run: ${why}`);
    return undefined;
  };
  const read = readWhen(written.when, { zone: timezone, now: createdAt });
  if (!read.ok) return problem(read.problem);
  return {
    name,
    when: read.when,
    timezone,
    task,
    reminder: written.reminder ? true : undefined,
    quiet: written.quiet ? true : undefined,
    catchUp,
    skill,
    conversation: conversationOf(written.conversation),
    // The kind of chat is looked up when the routine fires.
    chatType: 'unknown',
    external: false,
    creator: { id: as, name: as, kind: 'person', timezone },
    fromConfig: true,
    createdAt,
  };
}

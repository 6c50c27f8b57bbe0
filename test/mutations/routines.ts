import { changesOf } from './changes-of.ts';
import type { Mutation } from './mutation.ts';

/** Who may have what done at a later time, and how often it is done (N1, N3). */
export const routineMutations: readonly Mutation[] = [
  ...changesOf('features/routines/handle-routine.ts', 'end-to-end/routine-creators.test.ts', [
    ['a removed creator has hands', 'if (!decision.allowed) {', 'if (decision.code === undefined) {'],
    [
      'a withdrawn skill runs',
      '.rules, use).allowed) return undefined;',
      '.rules, use).allowed !== undefined) return undefined;',
    ],
    ['a budget does not count', 'if (over !== undefined)', 'if (over === task.name)'],
  ]),
  ...changesOf('features/routines/routine-tools.ts', 'end-to-end/routines.test.ts', [
    ['a person allows themselves to be called often', 'byApprover: true', 'byApprover: false'],
  ]),
  ...changesOf('core/message.ts', 'end-to-end/routine-creators.test.ts', [
    [
      'what a routine began sets up routines',
      "'ofRoutine' in task && task.ofRoutine === true",
      "'ofRoutine' in task && task.kind === 'routine'",
    ],
  ]),
  ...changesOf('features/routines/press-routine.ts', 'end-to-end/routine-strangers.test.ts', [
    [
      'anybody who reads along presses the buttons of a routine',
      'if (!(await mayManage(routine, requester.sender, deps)))',
      'if (!(await mayManage(routine, routine.definition.creator.id, deps)))',
    ],
  ]),
  ...changesOf('operator/reconfigure.ts', 'end-to-end/routines.test.ts', [
    [
      'a reload takes a routine that could never run',
      "level === 'error' ? [",
      "level === 'error' && message === '' ? [",
    ],
  ]),
  ...changesOf('features/routines/watch-routines.ts', 'features/routines/simulated-year.test.ts', [
    ['a clock that is set back fires again', 'Math.max(clock.now(), dueAt)', 'clock.now()'],
  ]),
  ...changesOf('store/routines.ts', 'store/embedded.test.ts', [
    [
      'a time fires as often as it is tried',
      " AND state = 'active' AND due_at = ?2`",
      ' AND due_at <> ?2 - 1`',
    ],
    ['a repeated turn counts twice', ' AND settled <> ?3', ''],
  ]),
];

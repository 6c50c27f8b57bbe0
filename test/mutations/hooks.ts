import { changesOf } from './changes-of.ts';

/** Who sends events, and what becomes of them (N7). */
export const hookMutations = [
  ...changesOf('features/hooks/read-event.ts', 'end-to-end/hooks.test.ts', [
    [
      'an event of any size is read',
      "if (size > largestEvent) return 'too large';",
      '',
      { only: 'longer than it said' },
    ],
  ]),
  ...changesOf('runs/user-content.ts', 'end-to-end/hooks.test.ts', [
    [
      'an event is the person’s words',
      "if (message.task?.kind === 'hook') return eventContent(message, message.task, options);",
      '',
      { only: 'its body is data' },
    ],
  ]),
];

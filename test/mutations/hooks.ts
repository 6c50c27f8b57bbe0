import { changesOf } from './changes-of.ts';

/** Who sends events, and what becomes of them (N7). */
export const hookMutations = [
  ...changesOf('hooks/verify-request.ts', 'hooks/verify-request.test.ts', [
    ['any bearer token is the secret of a hook', 'sameText(bearer, secret) ?', 'true ?'],
    ['any signature is one', 'if (!given.some((each) => sameText(each, `v1,${signed}`)))', 'if (false)'],
    ['a signature holds for ever', 'Math.abs(now - Number(timestamp) * 1_000) > windowMs', 'false'],
    [
      'a signature of the future holds',
      'Math.abs(now - Number(timestamp) * 1_000)',
      'now - Number(timestamp) * 1_000',
    ],
    ['a signature holds for another delivery', '`${id}.${timestamp}.`', '`msg_1.${timestamp}.`'],
    [
      'GitHub may sign what it likes',
      "return sameText(one(given) ?? '', `sha256=${digest}`)",
      'return given !== undefined',
    ],
  ]),
  ...changesOf('hooks/read-event.ts', 'end-to-end/hooks.test.ts', [
    [
      'an event of any size is read',
      "if (size > largestEvent) return 'too large';",
      '',
      { only: 'longer than it said' },
    ],
  ]),
  ...changesOf('hooks/receive-hook.ts', 'end-to-end/hooks.test.ts', [
    [
      'an event is heard from a removed person',
      'decision.allowed ? message',
      'true ? message',
      { only: 'its person is removed' },
    ],
    [
      'an event speaks in another’s direct message',
      "if (chatType === 'private' && person !== as)",
      'if (false)',
      { only: 'its own person alone' },
    ],
  ]),
  ...changesOf('hooks/receive-hook.ts', 'hooks/receive-hook.test.ts', [
    [
      'a flood of events is stored',
      'if (full !== undefined)',
      'if (full !== undefined && Number.isNaN(full.freeAt))',
    ],
    [
      'an event is taken before the bot started',
      "if (!isOpen) return later('failed',",
      "if (false) return later('failed',",
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

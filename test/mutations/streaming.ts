import { changesOf } from './changes-of.ts';
import type { Mutation } from './mutation.ts';

/** What is shown of an answer while it is written (H6, U13). */
export const streamingMutations: readonly Mutation[] = [
  ...changesOf('conversations/progress.ts', 'conversations/progress.test.ts', [
    ['words are shown to a removed person', '!(await work.mayRead())', 'false'],
    [
      'words are shown before the answer before them',
      'if (await stoodAbove()) return showWordsIn(quietMs);',
      '',
    ],
    ['a line takes the place of words', ' && !wordsShown)', ')'],
    ['words before a tool call stand as an answer', "          words = '';\n", ''],
    ['what a dead process posted is taken for words', 'silent: true as const', ''],
  ]),
  ...changesOf('replies/deliver.ts', 'replies/deliver.test.ts', [
    ['a line is edited into the answer', 'isNothing(row) || shown.silent === true', 'isNothing(row)'],
  ]),
  ...changesOf('channels/placeholder-line.ts', 'channels/telegram-words.test.ts', [
    ['a line after words stays an answer', "wish.kind === 'line' && before.silent !== true", 'false'],
  ]),
  ...changesOf('channels/telegram/draft.ts', 'channels/telegram-words.test.ts', [
    [
      'a preview goes on through 429',
      'error.retryAfterMs : undefined) ?? afterFaultMs',
      '0 : undefined) ?? 0',
    ],
  ]),
  ...changesOf('channels/slack/create-status.ts', 'channels/slack-status.test.ts', [
    [
      'a receipt reaction is taken for a sign of work',
      ' && !mark) return true',
      ' && !mark) refused.clear()',
    ],
    ['a refused reaction is tried each time', 'ofOneMessage.includes(code) ? here : everywhere', "''"],
  ]),
];

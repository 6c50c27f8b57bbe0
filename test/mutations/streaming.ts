import { changesOf } from './changes-of.ts';
import type { Mutation } from './mutation.ts';

/** What is shown of an answer while it is written (H6, U13). */
export const streamingMutations: readonly Mutation[] = [
  ...changesOf('conversations/progress.ts', 'conversations/progress.test.ts', [
    ['words are shown to a removed person', '!(await work.mayRead())', 'false'],
    [
      'words are shown before the answer before them',
      'if (await isBehindAnswer(showing)) return showWordsIn(quietMs, showing);',
      '',
    ],
    ['a line takes the place of words', ' || showing.wordsShown)', ')'],
    ['words before a tool call stand as an answer', "  showing.words = '';\n", ''],
  ]),
  ...changesOf('conversations/placeholder.ts', 'conversations/progress.test.ts', [
    ['what a dead process posted is taken for words', 'silent: true as const', ''],
  ]),
  ...changesOf('replies/deliver.ts', 'replies/deliver.test.ts', [
    ['a line is edited into the answer', 'isNothing(row) || shown.silent === true', 'isNothing(row)'],
  ]),
  ...changesOf('channels/placeholder-line.ts', 'channels/telegram-words.test.ts', [
    ['a line after words stays an answer', 'isSilent(wish) && (before.silent', 'false && (before.silent'],
  ]),
  ...changesOf('channels/telegram/draft.ts', 'channels/telegram-words.test.ts', [
    [
      'a preview goes on through 429',
      'error.retryAfterMs : undefined) ?? afterFaultMs',
      '0 : undefined) ?? 0',
    ],
  ]),
  ...changesOf('channels/slack/own-status.ts', 'channels/slack-status.test.ts', [
    [
      'a receipt reaction is taken for a sign of work',
      ' && !mark) return true',
      ' && !mark) refused.clear()',
    ],
    ['a refused reaction is tried each time', 'ofOneMessage.includes(code) ? here : everywhere', "''"],
  ]),
  ...changesOf('channels/slack/create-status.ts', 'channels/slack-streams.test.ts', [
    ['a stream stays open after the work', 'await stream?.stop()', 'await Promise.resolve()'],
    [
      'an edit runs into an open stream',
      'whenClosed(call, place, ',
      '((_c: unknown, _p: unknown, change: () => Promise<unknown>) => change())(call, place, ',
    ],
  ]),
  ...changesOf('channels/slack/create-sender.ts', 'channels/slack-streams.test.ts', [
    [
      'the answer runs into an open stream',
      "whenClosed(call, fixed, () => call('chat.update', { ...fixed, text, blocks }))",
      "call('chat.update', { ...fixed, text, blocks })",
    ],
    [
      'an open stream stays beside the answer',
      "whenClosed(call, place, () => call('chat.delete', place))",
      "call('chat.delete', place)",
    ],
  ]),
  ...changesOf('channels/slack/connect-slack.ts', 'channels/slack-streams.test.ts', [
    ['words are streamed without the agent view', 'agentView ? createStreams(', 'true ? createStreams('],
  ]),
  ...changesOf('channels/slack/create-stream.ts', 'channels/slack-streams.test.ts', [
    ['words are streamed in a channel, where one person sees them', " || !chat.startsWith('D')", ''],
    [
      'a refused start is tried each time',
      'refusedUntil.set(chat, clock.now() + refusedMs)',
      'refusedUntil.delete(chat)',
    ],
    [
      'a limited start shows no words',
      'if (retryAfterMs !== undefined) starts.pause(startLimit, retryAfterMs);',
      'if (retryAfterMs !== undefined) throw error;',
    ],
    ['starts leave no room for stops', ' || !starts.take(startLimit)', ''],
    ['words that were taken back are added to', ' || !next.text.startsWith(before.text)', ''],
    [
      'words longer than a message are added',
      'isEmpty || text.length > longestStream || wish.markdown.length > longestStream',
      'isEmpty',
    ],
    ['what was perhaps added is added again', '      open = undefined;\n      try {', '      try {'],
    ['words show after a person stopped them', "if (code === 'stopped_by_user')", 'if (false)'],
    ['a limit ends the stream', '          open = before;\n', ''],
    ['a stopped stream has no mark', ', metadata: keyMetadata(key) }', ' }'],
    [
      'a limited stop is taken for none',
      'if (slackErrorCode(error) === undefined || told.retryAfterMs !== undefined) throw told;',
      '',
    ],
  ]),
  ...changesOf('channels/slack/find-key.ts', 'channels/slack-streams.test.ts', [
    ['a search for an answer finds words', '#0!status$/', '#0/'],
    ['a message that is no open stream becomes the answer', " && streaming_state === 'in_progress'", ''],
    ['an older stream becomes the answer', ' && ts > asked', ''],
    ['the stream of somebody else becomes the answer', 'user === me?.user && ', ''],
  ]),
  ...changesOf('channels/slack/from-markdown.ts', 'channels/slack-stream-text.test.ts', [
    ['a stream has names with dots', ".replace(/\\.(?=[^\\s.])/g, '\\u2024')", ''],
    ['a stream has schemes', ".replace(/:(?=[/\\\\&*_~<`\\p{Cf}])/gu, '\\u2236')", ''],
    ['a stream has mentions and HTML', '(?<=[<@!&])(?=\\S)|', ''],
    ['a stream has links of Markdown', '|(?<=\\])(?=[([:])', ''],
    ['what follows changes what was streamed', ".replace(/(?<![\\s.:])[\\s.:]*[\\ud800-\\udbff]?$/, '')", ''],
  ]),
];

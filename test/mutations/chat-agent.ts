import { changesOf } from './changes-of.ts';
import type { Mutation } from './mutation.ts';

/** The main agent of one chat, and a question asked again (I3, M15). */
export const chatAgentMutations: readonly Mutation[] = [
  ...changesOf('features/settings/answer-agent.ts', 'end-to-end/chat-agent.test.ts', [
    [
      'anybody sets the model',
      'return { text: say`Only an owner can change that.` };\n    const { models } = runtime().config;',
      'void 0;\n    const { models } = runtime().config;',
    ],
    ['a persona of any length is kept', 'text.length > longestPersona', 'false'],
  ]),
  ...changesOf('tools/settings/chat-agent.ts', 'end-to-end/chat-agent.test.ts', [
    [
      'an alias that is gone stays in force',
      'const known = resolveModel(models, model) !== undefined;',
      'const known = true;',
    ],
  ]),
  ...changesOf('conversations/user-entry.ts', 'conversations/turn.test.ts', [
    ['the question of somebody else is answered again', '      entry.sender === sender &&\n', ''],
    ['a run is answered a second time', 'answers: _answers, ', ''],
  ]),
  ...changesOf('conversations/turn.ts', 'conversations/turn.test.ts', [
    [
      'a question asked again is not recorded',
      "await audit.record({ event: 'asked_again', ...placeOf(requesterOf(message)) });",
      '',
    ],
    [
      'a run that is gone on with is told nothing of the place',
      'key, context: said?.context }',
      'key, context: undefined }',
    ],
  ]),
  ...changesOf('runs/user-content.ts', 'end-to-end/read-thread.test.ts', [
    ['another app passes for the bot', 'sender.own === true;', "sender.kind === 'bot';"],
  ]),
];

import { changesOf } from './changes-of.ts';

/** What a person has to agree to (T8, S7), and who may. */
export const approvalMutations = [
  ...changesOf('features/approvals/show-details.ts', 'features/approvals/approvals.test.ts', [
    [
      'an answer counts in any chat',
      'conversationKey(asked) === conversationKey({ channel, chat, thread: inThread })',
      'true',
    ],
  ]),
  ...changesOf('features/approvals/approvals.ts', 'features/approvals/approvals.test.ts', [
    [
      'what is over is heard without a mention',
      "request?.state === 'open' && request.expiresAt > clock.now()",
      'ask',
    ],
    ['anybody is heard without a mention', ' && mayAnswer(request, sender);', ';'],
    [
      'always where each time is asked',
      "value === 'always' && standingRuleOf(request) === undefined",
      'false',
    ],
    [
      'the question is bound to no input',
      'const bound = [tool, input, files',
      "const bound = [tool, '', files",
    ],
    ['the question is bound to no files', "files ?? '', place", "'', place"],
  ]),
  ...changesOf('features/approvals/finish-approval.ts', 'features/approvals/approvals.test.ts', [
    [
      'always is told before it is stored',
      "await rules.add(rule, request.answer?.by ?? '', clock.now());",
      "void rules.add(rule, request.answer?.by ?? '', clock.now());",
    ],
  ]),
  ...changesOf('access/approvers.ts', 'features/approvals/approvals.test.ts', [
    ['anybody answers', 'sender === requester || isApprover', 'true'],
    ['approvers do not count', 'sender === requester || isApprover', 'sender === requester'],
    ['who asked approves under four_eyes', "payload['fourEyes'] === true", 'false'],
  ]),
  ...changesOf('features/approvals/approval-question.ts', 'features/approvals/approvals.test.ts', [
    ['no is yes', "answer?.value === 'approve' || answer?.value === 'always'", 'answer?.value !== undefined'],
  ]),
  ...changesOf('access/while-admitted.ts', 'access/while-admitted.test.ts', [
    ['a removed person is still admitted', 'if (may.allowed) return may;', 'return { allowed: true };'],
    ['a model is asked for a removed person', 'if (!may.allowed) throw', 'if (false) throw'],
  ]),
  ...changesOf('access/while-unmarked.ts', 'end-to-end/model-search.test.ts', [
    [
      'a model searches by itself after private data came',
      '(await taint()) !== undefined',
      'false',
      { only: 'S7 M21' },
    ],
  ]),
  ...changesOf('tools/policy.ts', 'end-to-end/model-search.test.ts', [
    [
      'a model searches by itself where a person should be asked',
      'tool.byModel !== true ||',
      'true ||',
      { only: 'T8 M21' },
    ],
  ]),
  ...changesOf('features/plugins/plugin-calls.ts', 'features/plugins/plugin-calls.test.ts', [
    [
      'a plugin asks a model for a removed person',
      '(one) => whileAdmitted(one, requester, stillAdmitted)',
      '(one) => one',
    ],
  ]),
  ...changesOf('tools/tool-restriction.ts', 'end-to-end/inline-files.test.ts', [
    [
      'a tool that a skill lends is always there',
      '!lent.names.has(name) || through.has(name)',
      'true',
      { only: 'that turn alone' },
    ],
  ]),
  ...changesOf('runs/run-context.ts', 'end-to-end/subagents.test.ts', [
    ['a subagent starts subagents', 'run.part === undefined', 'true', { only: 'starts none itself' }],
  ]),
  ...changesOf('runs/subagent.ts', 'end-to-end/subagents.test.ts', [
    ['steps of a subagent are free', 'context.spend(result.iterations);', '', { only: 'U7 U5' }],
    ['a subagent begins over the budget', 'if (over !== undefined)', 'if (false)', { only: 'U7 U10' }],
  ]),
  ...changesOf('tools/in-folders.ts', 'end-to-end/inline-files.test.ts', [
    ['a yes to a search binds no files', "=== 'grep_files' ? '*' : input", "=== 'grep_files' ? '' : input"],
  ]),
  ...changesOf('conversations/folder-tools.ts', 'end-to-end/inline-files.test.ts', [
    [
      'a restricted inline skill works in the group’s folder',
      'const chat = ownFolder(turn.chat, restricted);',
      'const chat = turn.chat;',
    ],
  ]),
  ...changesOf('agent/run-calls.ts', 'agent/run-loop.test.ts', [
    ['a call cut off is made again', 'isUnderWay(after, call.id) && !isRepeatable(call)', 'false'],
    ['a finished call is made again', "calls.filter(({ id }) => !has(after, 'tool_result', id))", 'calls'],
    ['a call that never started leaves a result', '(!started || isRepeatable(call))', 'isRepeatable(call)'],
    [
      'calls with effects run side by side',
      'calls.every(({ name }) => traits.get(name)?.sideEffects === false)',
      'true',
    ],
  ]),
];

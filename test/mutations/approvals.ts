import { changesOf } from './changes-of.ts';

/** What a person has to agree to (T8, S7), and who may. */
export const approvalMutations = [
  ...changesOf('tools/policy.ts', 'tools/policy.test.ts', [
    [
      'the mildest rule wins',
      "['deny', 'confirm', 'allow'] as const",
      "['allow', 'confirm', 'deny'] as const",
    ],
    ['a marked call is allowed', "of.marked && action === 'allow' ? 'confirm' : action", 'action'],
    [
      'a critical call may be allowed for good',
      "of.marked || of.risk === 'critical' || ruled",
      'of.marked || ruled',
    ],
    ['a rule for a skill fits any', 'if (skill !== undefined && skill !== of.skill) return false;', ''],
    ['a rule for a chat fits any', 'if (chat !== undefined && !listsId', 'if (false && !listsId'],
    ['a rule for a sender fits any', 'if (sender !== undefined && !listsId', 'if (false && !listsId'],
    [
      'a rule for a tool fits any',
      'return tool === undefined || matchesGlob(tool, of.tool);',
      'return true;',
    ],
  ]),
  ...changesOf('tools/call-tool.ts', 'tools/call-tool.test.ts', [
    ['what a tool itself refuses is done', 'if (terms?.refused !== undefined) return terms.refused;', ''],
    ['a tool that is not allowed is called', '!ceiling.allows(call.name, call.input)', 'false'],
    ['input is not checked for size', 'size > inputLimit\n', 'false\n'],
    [
      'a policy that fails allows',
      "made.policy = 'TOOL_POLICY_DENIED';\n      return fail(",
      'return undefined; fail(',
    ],
    ['a call begins before its start is stored', 'await made.begin();', 'void made.begin();'],
    ['a secret in an output reaches the model', 'defuse(redact(text))', 'defuse(text)'],
    ['a label in an output reaches the model', 'defuse(redact(text))', 'redact(text)'],
    ['a call that a person refused is made', 'if (denial !== undefined) return denial;', ''],
  ]),
  ...changesOf('tools/risk.ts', 'tools/risk.test.ts', [
    ['a declared risk is passed over', 'if (risk !== undefined) return risk;', ''],
    [
      'side effects without reach are safe',
      "'dangerous' : 'moderate';\n}\n\n",
      "'dangerous' : 'safe';\n}\n\n",
    ],
    ['no sandbox is no risk', "if (sandbox.mode === 'off') return 'critical';", ''],
  ]),
  ...changesOf('app/gates/standing-rules.ts', 'app/standing-rules.test.ts', [
    ['bash may be allowed for good', "return tool !== 'bash';", 'return true;'],
    [
      'a rule is told before it is stored',
      'await stored.set(kept.id, kept);',
      'void stored.set(kept.id, kept);',
    ],
    [
      'who allowed a rule stays after forget',
      'rule.sender === sender || rule.by === sender',
      'rule.sender === sender',
    ],
    [
      'rules of somebody forgotten stay',
      'rule.sender === sender || rule.by === sender',
      'rule.by === sender',
    ],
    ['a rule holds for changed files', "skill ?? '', files ?? '', chat", "skill ?? '', '', chat"],
    ['a rule holds in any chat', "files ?? '', chat, sender", "files ?? '', '', sender"],
    ['a rule holds for anybody', "files ?? '', chat, sender", "files ?? '', chat, ''"],
    ['a rule holds for a changed tool', 'sender, ...of]);', 'sender]);'],
  ]),
  ...changesOf('app/gates/approvals.ts', 'app/approvals.test.ts', [
    ['anybody answers', 'sender !== ask.requester && !listsId(approvers(), sender)', 'false'],
    ['approvers do not count', ' && !listsId(approvers(), sender)', ''],
    [
      'an answer counts in any chat',
      ' || conversationKey(ask.conversation) !== conversationKey(conversation)',
      '',
    ],
    ['always where each time is asked', "value === 'always' && !standing.success", 'false'],
    ['no is yes', "answer?.value === 'approve' || answer?.value === 'always'", 'answer?.value !== undefined'],
    [
      'the question is bound to no input',
      'const bound = [tool, input, files',
      "const bound = [tool, '', files",
    ],
    ['the question is bound to no files', "files ?? '', place", "'', place"],
    [
      'always is told before it is stored',
      "await rules.add(rule.data, ask.answer?.by ?? '', clock.now());",
      "void rules.add(rule.data, ask.answer?.by ?? '', clock.now());",
    ],
  ]),
  ...changesOf('agent/run-calls.ts', 'agent/run-loop.test.ts', [
    ['a call cut off is made again', "has(after, 'tool_started', call.id) && !isRepeatable(call)", 'false'],
    ['a finished call is made again', "calls.filter(({ id }) => !has(after, 'tool_result', id))", 'calls'],
    ['a call that never started leaves a result', '(!started || isRepeatable(call))', 'isRepeatable(call)'],
    [
      'calls with effects run side by side',
      'calls.every(({ name }) => traits.get(name)?.sideEffects === false)',
      'true',
    ],
  ]),
];

import { changesOf } from './changes-of.ts';

/** What a person has to agree to (T8, S7), and who may. */
export const approvalMutations = [
  ...changesOf('tools/call-tool.ts', 'tools/call-tool.test.ts', [
    ['what a tool itself refuses is done', 'if (terms?.refused !== undefined) return terms.refused;', ''],
    ['a tool that is not allowed is called', '!door.allowed.allows(name, input)', 'false'],
    ['input is not checked for size', 'size > inputLimit\n', 'false\n'],
    ['a policy that fails allows', "return refuse('TOOL_POLICY_DENIED', message);", 'return undefined;'],
    ['a call begins before its start is stored', 'await attempt.begin()', 'void attempt.begin()'],
    ['a secret in an output reaches the model', 'escapeLabels(redact(text))', 'escapeLabels(text)'],
    ['a label in an output reaches the model', 'escapeLabels(redact(text))', 'redact(text)'],
    ['a call that a person refused is made', 'if (refusal !== undefined) return refusal;', ''],
  ]),
  ...changesOf('approvals/approvals.ts', 'approvals/approvals.test.ts', [
    [
      'an answer counts in any chat',
      'conversationKey(ask.conversation) === conversationKey(conversation)',
      'true',
    ],
    [
      'what is over is heard without a mention',
      "ask?.state === 'open' && ask.expiresAt > clock.now()",
      'ask',
    ],
    ['anybody is heard without a mention', ' && mayAnswer(ask, sender);', ';'],
    ['always where each time is asked', "value === 'always' && !standing.success", 'false'],
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
  ...changesOf('approvals/who-may-answer.ts', 'approvals/approvals.test.ts', [
    ['anybody answers', 'sender === requester || isApprover', 'true'],
    ['approvers do not count', 'sender === requester || isApprover', 'sender === requester'],
    ['who asked approves under four_eyes', "payload['fourEyes'] === true", 'false'],
  ]),
  ...changesOf('approvals/approval-question.ts', 'approvals/approvals.test.ts', [
    ['no is yes', "answer?.value === 'approve' || answer?.value === 'always'", 'answer?.value !== undefined'],
  ]),
  ...changesOf('approvals/judge-calls.ts', 'approvals/judge-calls.test.ts', [
    ['a removed person’s calls are made', 'if (!admitted.allowed) return admitted;', ''],
    ['a run goes on though its skill is switched off', 'if (!may.allowed) return may;', ''],
    ['an outside tool is called by anybody', 'if (!mayUse.allowed) return mayUse;', ''],
    [
      'nothing is judged again after a yes',
      'const again = await judged();',
      'const again = { allowed: true } as const;',
    ],
    [
      'a yes counts for files that changed',
      'if (asked.files !== undefined && files() !== asked.files)',
      'if (false)',
    ],
    ['a yes of before four_eyes counts', 'again.fourEyes && answer.by === requester.sender', 'false'],
    ['an anonymous person asks under four_eyes', 'if (nobody !== undefined) return nobodyElse(nobody);', ''],
    ['a call is made though nobody answered', "if (answer.kind !== 'approved') return refusal(answer);", ''],
    [
      'a change behind a capability is not asked for',
      "action === 'allow' && call.shown === undefined",
      "action === 'allow'",
    ],
    ['a change behind a capability is asked for once', 'eachTime || call.shown !== undefined', 'eachTime'],
    ['what policy denies is asked for', "if (action === 'deny') return denied(", 'if (false) return denied('],
    [
      'what a private skill gave leaves unasked',
      'const marked = await isMarked(call, { skill, transcript });',
      'const marked = false;',
    ],
    [
      'MCP servers are no way outside',
      '!tool.traits.requiresNetwork && !isForeign(tool)',
      '!tool.traits.requiresNetwork',
    ],
    [
      'what lies in the folder is not known',
      'joinTaint(around, await markInFolder(tool, of.transcript))',
      'around',
    ],
    [
      'an address that nobody wrote is one they did',
      'return !(await wroteAddress(',
      'return !!(await wroteAddress(',
    ],
    ['a mark is noted too late', 'if (decision.allowed) await note(call, loop.transcript);', ''],
    [
      'the script of any skill takes back what another gave',
      'if (belongs && of.skill?.name === known) return false;',
      'if (belongs) return false;',
    ],
  ]),
  ...changesOf('access/while-admitted.ts', 'access/while-admitted.test.ts', [
    ['a removed person is still admitted', 'if (may.allowed) return may;', 'return { allowed: true };'],
    ['a model is asked for a removed person', 'if (!may.allowed) throw', 'if (false) throw'],
  ]),
  ...changesOf('plugins/plugin-calls.ts', 'plugins/plugin-calls.test.ts', [
    [
      'a plugin asks a model for a removed person',
      'whileAdmitted(models.get(wanted), requester, stillAdmitted)',
      'models.get(wanted)',
    ],
  ]),
  ...changesOf('tools/outside-tools.ts', 'tools/outside-tools.test.ts', [
    [
      'an outside tool takes the name of a built-in one',
      'builtIn.get(name) ?? found.get(name)?.from',
      'found.get(name)?.from',
    ],
    [
      'a tool that is gone is called',
      'const reason = now === undefined ? `${tool.name} no longer exists` : await whyNot(now, requester);',
      'const reason = now && (await whyNot(now, requester));',
    ],
    ['a tool is offered to anybody', '(await whyNot(one, requester)) === undefined ?', 'true ?'],
    [
      'owners’ tools are everybody’s',
      "access.users === 'owners' && (await isOwner(sender))",
      "access.users === 'owners'",
    ],
    ['the main agent gets tools of runs', "({ main }) => main || to === 'run'", '() => true'],
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
  ...changesOf('tools/allowed-entry.ts', 'tools/allowed-tools.test.ts', [
    ['a command may go on', 'return text === first;', 'return text.startsWith(first);'],
    ['a last * is any longer word', '`${pieces.at(-1)}${between}`', '`${pieces.at(-1)}`'],
    ['a path with a * leads elsewhere', "command.some((word) => word.split('/').includes('..'))", 'false'],
    ['a rule is for any program', "words[0]?.startsWith('*') === true", 'false'],
  ]),
  ...changesOf('tools/allowed-tools.ts', 'tools/allowed-tools.test.ts', [
    [
      'a run has tools that the host does not grant',
      'const listed = entries.flatMap(({ entry }) => namedBy(entry, granted));',
      'const listed = entries.flatMap(({ entry }) => namedBy(entry, known));',
    ],
    [
      'a run starts other skills without a word',
      "new Set(builtInNames(({ runs }) => runs === 'named'))",
      "new Set(['skill_read', 'skill_write'])",
    ],
    [
      'a glob means tools that must be written out',
      'return names.filter((name) => !onlyByName.has(name) && matchesGlob(pattern, name));',
      'return names.filter((name) => matchesGlob(pattern, name));',
    ],
    [
      'an undeclared capability is granted',
      "(name) => options.declaresCapabilities || builtInTool(name)?.needs !== 'capabilities'",
      '() => true',
    ],
    [
      'a limit of commands is passed over',
      "if (name !== 'bash' || commands === undefined) return true;",
      'return true;',
    ],
    ['a tool of no list is called', 'if (!names.includes(name)) return false;', ''],
    [
      'a list that names nothing allows everything',
      "if (invalid === 'baseline') return { ok: true, ...ceilingOf(baseline, warnings) };",
      '',
    ],
    [
      'a command that is no text is allowed',
      'if (command === undefined) return false;',
      'if (command === undefined) return true;',
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
  ...changesOf('conversations/intake/approve-by-text.ts', 'conversations/approve-by-text.test.ts', [
    ['a yes counts for one of several questions', 'more.length > 0', 'false'],
    ['a yes counts for a question of a run', "ask?.kind !== 'approval'", 'ask === undefined'],
    ['a yes counts for what was asked after it', 'sentAt + wholeSeconds < ask.askedAt', 'false'],
    [
      'a yes counts for what was not shown',
      "typeof shown !== 'string' || (await store.outbox.receipt(shown)) === undefined",
      'false',
    ],
    ['a yes counts after other words that wait', 'if (waiting) return true;', ''],
    ['a yes counts after other words', 'entry.sender === sender.id && ', 'false && '],
    ['a yes counts for what somebody else is asked', 'requester === sender.id', 'true'],
    ['a code after other words decides', 'const coded = /^\\s*`?', 'const coded = /`?'],
    ['a code before other words decides', '`?\\s*$/u', '`?\\s*/u'],
    ['any code is heard without a mention', '|| !(await deps.approvals.awaits(code, personOf(message)))', ''],
  ]),
];

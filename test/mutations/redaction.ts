import { changesOf } from './changes-of.ts';

/** Secrets are taken out in every form, at every door (U3, S2). */
export const redactionMutations = [
  ...changesOf('bot/redact-data.ts', 'bot/redacting-doors.test.ts', [
    ['a system prompt keeps its secrets', 'system: system.map((block) => cleanBlock(block, redact)),', ''],
    [
      'a request keeps its secrets',
      "typeof content === 'string' ? redact(content) : cleanBlocks(content, redact),\n  };\n}\n\nexport function cleanAnswer",
      'content,\n  };\n}\n\nexport function cleanAnswer',
    ],
    ['tools keep their secrets', 'tools: tools.map(constant),', ''],
    ['the input of a call keeps its secrets', 'input: redactDeep(block.input, redact)', 'input: block.input'],
    [
      'what a tool answered keeps its secrets',
      'content: redactTexts(block.content, redact)',
      'content: block.content',
    ],
    [
      'thoughts keep their secrets',
      "block.type !== 'thinking' || redact(block.thinking) === block.thinking",
      'true',
    ],
    ['labels of buttons keep their secrets', 'label: redact(button.label)', 'label: button.label'],
    ['the name of a file keeps its secrets', 'name: redact(one.name)', 'name: one.name'],
    ['the audit keeps its secrets', 'auditIds.has(key) ? value : redactTexts(value, redact)', 'value'],
  ]),
  ...changesOf('bot/redact-data.ts', 'bot/clean-store.test.ts', [
    [
      'a text keeps its secrets in a message',
      '    text: redact(text),\n    attachments',
      '    text,\n    attachments',
    ],
    [
      'names of attachments keep their secrets',
      'attachments: redactTexts(attachments, redact)',
      'attachments',
    ],
    ['words of a command keep their secrets', 'args: redact(command.args)', 'args: command.args'],
    ['a quote keeps its secrets', 'replyTo: replyTo && cleanQuote(replyTo)', 'replyTo'],
    [
      'names of quoted files keep their secrets',
      'attachments: quote.attachments && redactTexts(quote.attachments, redact)',
      'attachments: quote.attachments',
    ],
    ['what is passed on keeps its secrets', 'shared?.map(cleanQuote)', 'shared'],
    ['the input of a run keeps its secrets', 'input: redactDeep(task.input, redact)', 'input: task.input'],
    ['the result of a run keeps its secrets', 'result: redact(task.result)', 'result: task.result'],
    [
      'a result in a transcript keeps its secrets',
      'content: redact(entry.content) };',
      'content: entry.content };',
    ],
    ['a summary keeps its secrets', '        text: redact(entry.text),\n', ''],
    ['a document keeps its secrets', 'data: redact(block.source.data)', 'data: block.source.data'],
  ]),
  ...changesOf('bot/redacting-doors.ts', 'bot/redacting-doors.test.ts', [
    [
      'what a model is asked keeps its secrets',
      'const asked = cleanRequest(request, redaction);',
      'const asked = request;',
    ],
    ['what a model answers keeps its secrets', 'return cleanAnswer(answer, text);', 'return answer;'],
    ['what a model says meanwhile keeps its secrets', 'say(said.push(part))', 'say(part)'],
    [
      'what is sent keeps its secrets',
      'channel.send(conversation, cleanPart(part, redact), ...more)',
      'channel.send(conversation, part, ...more)',
    ],
    ['what is edited keeps its secrets', 'receipt, cleanPart(part, redact))', 'receipt, part)'],
    ['a status keeps its secrets', 'redactTexts(status, redact)', 'status'],
    ['menus keep their secrets', 'redactTexts(menus, redact)', 'menus'],
    ['words to who pressed keep their secrets', 'tell(redact(words))', 'tell(words)'],
    [
      'operators get secrets',
      'redactTexts(await operate(...asked), clean().text)',
      'await operate(...asked)',
    ],
    [
      'faults told to operators keep their secrets',
      'new OperatorError(clean().text(said)',
      'new OperatorError(said',
    ],
  ]),
  ...changesOf('bot/redacting-doors.ts', 'bot/clean-store.test.ts', [
    ['the inbox keeps secrets', 'accept(cleanMessage(message, redact), options)', 'accept(message, options)'],
    ['an edit keeps its secrets', 'replace(cleanMessage(message, redact))', 'replace(message)'],
    [
      'the fault of an item keeps its secrets',
      ' fail(key, redact(error), retryAt)',
      ' fail(key, error, retryAt)',
    ],
    ['the fault of a part keeps its secrets', ' dead(key, redact(error))', ' dead(key, error)'],
    [
      'what was overheard keeps its secrets',
      ' add(cleanMessage(message, redact), now)',
      ' add(message, now)',
    ],
    ['an answer to a question keeps its secrets', 'value: redact(given.value)', 'value: given.value'],
    ['a transcript keeps secrets', 'entry: cleanEntry(one.entry, redact)', 'entry: one.entry'],
    ['the outbox keeps secrets', 'part: cleanPart(row.part, redact) }', 'part: row.part }'],
    [
      'work for others keeps its secrets',
      'work?.map((one) => ({ ...one, message: cleanMessage(one.message, redact) }))',
      'work',
    ],
    [
      'work that is added keeps its secrets',
      'message: cleanMessage(work.message, redact) }, refuse',
      'message: work.message }, refuse',
    ],
    ['progress keeps its secrets', 'told.has(topic) ? redact(text) : text', 'text'],
    ['the audit gets secrets', 'audit.record(cleanEvent(event, clean().text))', 'audit.record(event)'],
  ]),
];

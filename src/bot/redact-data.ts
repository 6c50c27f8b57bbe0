import type Anthropic from '@anthropic-ai/sdk';
import type { Part, PartFile } from '../core/channel.ts';
import type { Entry } from '../core/entry.ts';
import type { Message, Quote, Task } from '../core/message.ts';
import type { ModelAnswer, ModelRequest } from '../core/model.ts';
import { redactDeep, redactTexts, type Redaction } from '../lib/redaction/redact.ts';
import type { RoutineDefinition } from '../store/routines.ts';
import type { AuditEvent } from '../audit/audit-event.ts';

type Redact = (text: string) => string;

/** A request without secrets. The same request gives the same result, so that prompts stay cached (M5). */
export function cleanRequest(request: ModelRequest, { text: redact, constant }: Redaction): ModelRequest {
  const { system, messages, tools } = request;
  return {
    ...request,
    system: system.map((block) => cleanBlock(block, redact)),
    messages: messages.map((message) => cleanSaid(message, redact)),
    tools: tools.map(constant),
  };
}

function cleanSaid<Said extends Anthropic.MessageParam>(message: Said, redact: Redact): Said {
  const { content } = message;
  return {
    ...message,
    content: typeof content === 'string' ? redact(content) : cleanBlocks(content, redact),
  };
}

export function cleanAnswer(answer: ModelAnswer, redact: Redact): ModelAnswer {
  return { ...answer, content: cleanBlocks(answer.content, redact) };
}

export function cleanEntry(entry: Entry, redact: Redact): Entry {
  switch (entry.kind) {
    case 'user':
      return {
        ...entry,
        content:
          typeof entry.content === 'string' ? redact(entry.content) : cleanBlocks(entry.content, redact),
        context: entry.context && redact(entry.context),
        asked: entry.asked?.map(({ skill, text }) => ({ skill, text: redact(text) })),
      };
    case 'assistant':
      return { ...entry, content: cleanBlocks(entry.content, redact) };
    case 'tool_result':
      return { ...entry, content: redact(entry.content) };
    case 'notice':
      return { ...entry, text: redact(entry.text) };
    case 'summary':
      return {
        ...entry,
        text: redact(entry.text),
        own: entry.own && { ...entry.own, text: redact(entry.own.text) },
      };
    case 'tool_started':
    case 'taint':
      return entry;
  }
}

export function cleanMessage(message: Message, redact: Redact): Message {
  const { text, command, replyTo, shared, attachments, task } = message;
  const cleanQuote = (quote: Quote): Quote => ({
    ...quote,
    text: redact(quote.text),
    attachments: quote.attachments && redactTexts(quote.attachments, redact),
  });
  return {
    ...message,
    text: redact(text),
    attachments: redactTexts(attachments, redact),
    command: command && { ...command, args: redact(command.args) },
    replyTo: replyTo && cleanQuote(replyTo),
    shared: shared?.map(cleanQuote),
    task: task && cleanTask(task, redact),
  };
}

function cleanTask(task: Task, redact: Redact): Task {
  switch (task.kind) {
    case 'run':
      return { ...task, input: redactDeep(task.input, redact) };
    case 'result':
      return { ...task, result: redact(task.result) };
    case 'routine':
      return { ...task, name: redact(task.name) };
    case 'hook':
      return { ...task, prompt: redact(task.prompt) };
  }
}

export function cleanRoutine(definition: RoutineDefinition, redact: Redact): RoutineDefinition {
  return { ...definition, name: redact(definition.name), task: redact(definition.task) };
}

export function cleanPart<Sent extends Part>(part: Sent, redact: Redact): Sent {
  const { markdown, buttons, file, more, plan, made } = part;
  const named = <File extends PartFile>(one: File): File => ({ ...one, name: redact(one.name) });
  return {
    ...part,
    markdown: redact(markdown),
    buttons: buttons?.map((button) => ({ ...button, label: redact(button.label) })),
    file: file && named(file),
    more: more?.map(named),
    plan: plan && redactTexts(plan, redact),
    made: made && { ...made, asked: made.asked && { ...made.asked, text: redact(made.asked.text) } },
  };
}

const auditIds: ReadonlySet<string> = new Set([
  'event',
  'sender',
  'conversation',
  'requester',
  'by',
  'id',
  'call',
  'run',
  'subject',
  'before',
  'argumentsHash',
]);

export function cleanEvent(event: AuditEvent, redact: Redact): AuditEvent {
  const fields = Object.entries(event).map(([key, value]: [string, unknown]) => [
    key,
    auditIds.has(key) ? value : redactTexts(value, redact),
  ]);
  return Object.fromEntries(fields) as AuditEvent;
}

type Block = Anthropic.ContentBlock | Anthropic.ContentBlockParam;

/** Redacts blocks. Thoughts are signed, so one with a secret in it is left out as a whole. */
function cleanBlocks<One extends Block>(blocks: readonly One[], redact: Redact): readonly One[] {
  return blocks
    .filter((block) => block.type !== 'thinking' || redact(block.thinking) === block.thinking)
    .map((block) => cleanBlock(block, redact));
}

/** Redacts a block. Signed, encrypted and image blocks stay as they are. */
function cleanBlock<One extends Block>(block: One, redact: Redact): One {
  switch (block.type) {
    case 'text':
      return { ...block, text: redact(block.text) };
    case 'tool_use':
      return { ...block, name: redact(block.name), input: redactDeep(block.input, redact) };
    case 'tool_result':
      return { ...block, content: redactTexts(block.content, redact) };
    case 'document':
      return 'source' in block && block.source.type === 'text'
        ? { ...block, source: { ...block.source, data: redact(block.source.data) } }
        : block;
    default:
      return block;
  }
}

import { around, defuse, labelled } from '../core/label.ts';
import type { Question } from './questions.ts';
import { shownIdLength, type Attachment, type Message, type Quote, type Task } from '../core/message.ts';

/**
 * A message as the model reads it. In a group its sender stands on it (M8); what others said before stands in front as
 * background (M10); everything that is not the person's own text is labelled as data (M11). `today` is given when the
 * model has not been told this day yet (ISO date); `waiting` is what runs asked the sender (U14).
 */
export function userContent(
  message: Message,
  options: Readonly<{ background: readonly Message[]; today?: string }>,
): string {
  if (message.task?.kind === 'result') return taskResult(message.task, options.today);
  // An empty turn is refused by the API.
  const text = message.text.trim() === '' ? '(no text)' : message.text;
  const own =
    message.chatType === 'private'
      ? defuse(text)
      : labelled('message', text, { from: message.sender.name, id: message.sender.id });
  return [
    ...(options.today === undefined ? [] : [labelled('host', `Today is ${options.today} (UTC).`)]),
    ...(options.background.length === 0 ? [] : [background(options.background)]),
    ...answeredTo(message),
    own,
    ...passedOn(message),
  ].join('\n');
}

/** What `userContent` gave, without the date in front. */
export function withoutDate(content: string): string {
  return content.replace(/^<host>\nToday is [^\n]*\n<\/host>\n/, '');
}

/** What came with a message beside the person's own words, in labels (M11). */
export function broughtAlong(message: Message): readonly string[] {
  return [...answeredTo(message), ...passedOn(message)];
}

/** Messages that were overheard, in labels. */
export function heardWords(messages: readonly Message[]): readonly string[] {
  return messages.flatMap(({ sender, text, shared = [] }) => [
    labelled('message', text, { from: sender.name, id: sender.id }),
    ...shared.map(quote),
  ]);
}

function answeredTo({ replyTo }: Message): readonly string[] {
  return replyTo === undefined ? [] : [quote(replyTo)];
}

function passedOn({ shared = [], attachments }: Message): readonly string[] {
  const note = attachments.length === 0 ? [] : [labelled('host', attachmentNote(attachments))];
  return [...shared.map(quote), ...note];
}

/** The result stands in labels of its own: `use_skill` made them (U4, U9). */
function taskResult({ id, skill, result }: Extract<Task, { kind: 'result' }>, today?: string): string {
  const note = `The background run ${id.slice(0, shownIdLength)} of the skill ${skill} has ended. Tell the person what it gave; nobody wrote anything now.`;
  return [labelled('host', `${today === undefined ? '' : `Today is ${today} (UTC). `}${note}`), result].join(
    '\n',
  );
}

function background(messages: readonly Message[]): string {
  return around('background', heardWords(messages), { note: 'said here before, not by the requester' });
}

/** What is asked was written by a run's model: it is quoted, not said by the host. */
export function questionContent({ run, skill, question: asked }: Question): string {
  const note = `A run of the skill ${skill} asked this person what is quoted here. If their message answers it, call use_skill {"skill": "${skill}", "message": their answer in full, "resume": "${run}"}; if it is about something else, leave it.`;
  return [labelled('host', note), labelled('quote', asked, { from: `skill ${skill}` })].join('\n');
}

function quote({ name, text, own, sender, note }: Quote): string {
  return labelled('quote', text, {
    from: own ? 'you' : name,
    ...(own || sender === undefined ? {} : { id: sender }),
    ...(note === undefined ? {} : { note }),
  });
}

function attachmentNote(attachments: readonly Attachment[]): string {
  const each = attachments.map(({ kind, name, mime, size }) =>
    [kind, JSON.stringify(name), mime, size === undefined ? undefined : `${size} bytes`]
      .filter(Boolean)
      .join(' '),
  );
  return `Attached, but its content cannot be read yet: ${each.join('; ')}.`;
}

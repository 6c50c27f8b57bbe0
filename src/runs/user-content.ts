import { byteSize, oneLine } from '../lib/text/text.ts';
import { around, escapeLabels, labelled, type LabelAttributes } from '../lib/text/escape-labels.ts';
import { nothingReceived, type Received, type ReceivedOf, type ShownFile } from '../core/received.ts';
import { localTime } from '../core/local-time.ts';
import type { Question } from './questions.ts';
import { shownIdLength, type Attachment, type Message, type Quote, type Task } from '../core/message.ts';

/**
 * A message as the model reads it: its sender in groups (M8), background (M10), and labels around all but the person's
 * own text (M11). `today` is the time; undefined if the model was told it recently.
 */
export function userContent(
  message: Message,
  options: Readonly<{ background: readonly Message[]; today?: string; received?: ReceivedOf }>,
): string {
  const { received = nothingReceived } = options;
  if (message.task?.kind === 'result') return taskResult(message.task, options.today);
  if (message.task?.kind === 'hook') return eventContent(message, message.task, options);
  // The API refuses an empty message.
  const aloud = saidAloud(message, received);
  const text =
    [message.text, ...aloud.map(toSpoken)].filter((each) => each.trim() !== '').join('\n') || '(no text)';
  const { task } = message;
  const isForeign = task?.kind === 'routine' && task.from !== undefined && task.from.words !== 'typed';
  const own = isForeign
    ? labelled('quote', text, { from: task.from?.by === undefined ? undefined : notOurs(task.from.by) })
    : message.chatType === 'private'
      ? escapeLabels(text)
      : labelled('message', text, { from: message.sender.name, id: message.sender.id });
  return [
    ...(options.today === undefined
      ? []
      : [labelled('host', `Today is ${options.today}.`, spokenTo(message))]),
    ...(options.background.length === 0 ? [] : [background(options.background, received)]),
    ...answeredTo(message, received),
    ...(message.task?.kind === 'routine' ? [routineNote(message, message.task)] : []),
    own,
    ...passedOn(message, received, aloud),
  ].join('\n');
}

export function withoutDate(content: string): string {
  return content.replace(/^<host[^>\n]*>\nToday is [^\n]*\n<\/host>\n/, '');
}

export function zoneTold(content: string): string | undefined {
  return /^<host[^>\n]*>\nToday is \S+ \([^)\n]*\), \S+ (\S+)\./.exec(content)?.[1];
}

function spokenTo({ chatType, sender }: Message): Readonly<Record<string, string>> {
  return chatType === 'private' ? { person: sender.name } : {};
}

export function broughtAlong(message: Message, received: ReceivedOf): readonly string[] {
  return [...answeredTo(message, received), ...passedOn(message, received)];
}

export function heardWords(messages: readonly Message[], received: ReceivedOf): readonly string[] {
  return messages.flatMap(({ sender, text, attachments, shared = [] }) => {
    const own = sender.own === true;
    const from: Readonly<Record<string, string>> = own
      ? { from: 'you' }
      : { from: notOurs(sender.name), id: sender.id };
    const words = [text, ...fileLines(attachments, received)].join('\n').trim();
    const quotes = shared.flatMap((one) =>
      quote(one, received, words === '' && one.sender !== sender.id ? from['from'] : undefined),
    );
    return [
      ...(words === '' && quotes.length > 0 ? [] : [labelled(own ? 'quote' : 'message', words, from)]),
      ...fileTexts(attachments, received, from),
      ...quotes,
    ];
  });
}

/** The files that a model is shown, without repeats, the person's own first. */
export function filesShown(
  { attachments, replyTo, shared = [] }: Message,
  background: readonly Message[],
  received: ReceivedOf,
): readonly ShownFile[] {
  const quoted = [...(replyTo === undefined ? [] : [replyTo]), ...shared];
  const all = [...attachments, ...[...quoted, ...background].flatMap((one) => one.attachments ?? [])];
  const shown = all.flatMap((attachment) => {
    const got = received(attachment);
    return got?.ok === true && got.shown !== undefined ? [got.shown] : [];
  });
  return shown.filter(({ hash }, index) => shown.findIndex((one) => one.hash === hash) === index);
}

export function whyUnread(
  { text, attachments, replyTo, shared = [] }: Message,
  received: ReceivedOf,
): string | undefined {
  if (text.trim() !== '' || replyTo !== undefined || shared.length > 0) return undefined;
  const reasons = attachments.map((attachment) => received(attachment)?.told);
  if (reasons.length === 0 || reasons.includes(undefined)) return undefined;
  return [...new Set(reasons)].join('\n\n');
}

function answeredTo({ replyTo }: Message, received: ReceivedOf): readonly string[] {
  return replyTo === undefined ? [] : quote(replyTo, received);
}

type Aloud = Readonly<{ attachment: Attachment; words: string }>;

/** Transcripts of voice that count as the person's own words. Forwarded voice does not (M11). */
function saidAloud({ attachments, shared = [] }: Message, received: ReceivedOf): readonly Aloud[] {
  if (shared.length > 0) return [];
  return attachments.flatMap((attachment) => {
    const got = received(attachment);
    return got?.ok === true && got.text?.spoken === true ? [{ attachment, words: got.text.text }] : [];
  });
}

function toSpoken({ attachment, words }: Aloud): string {
  return `[transcript of ${JSON.stringify(oneLine(attachment.name, 100))}] ${words}`;
}

function passedOn(
  { sender, shared = [], attachments }: Message,
  received: ReceivedOf,
  aloud: readonly Aloud[] = [],
): readonly string[] {
  const note =
    attachments.length === 0
      ? []
      : [labelled('host', `Attached:\n${fileLines(attachments, received).join('\n')}`)];
  const from = { from: sender.name, id: sender.id };
  return [
    ...shared.flatMap((one) => quote(one, received)),
    ...note,
    ...fileTexts(
      attachments.filter((each) => aloud.every(({ attachment }) => attachment !== each)),
      received,
      from,
    ),
  ];
}

/** The result of a background run, which `use_skill` has labelled already (U4, U9). */
function taskResult({ id, skill, result }: Extract<Task, { kind: 'result' }>, today?: string): string {
  const note = `The background run ${id.slice(0, shownIdLength)} of the skill ${skill} has ended. Tell the person what it gave; nobody wrote anything now.`;
  return [labelled('host', `${today === undefined ? '' : `Today is ${today}. `}${note}`), result].join('\n');
}

/** An event from outside. Only the operator's prompt counts as an instruction (N7, M11). */
function eventContent(
  message: Message,
  { name, prompt }: Extract<Task, { kind: 'hook' }>,
  { today, received = nothingReceived }: Readonly<{ today?: string; received?: ReceivedOf }>,
): string {
  const note = `An event came in at the hook ${name}. Nobody wrote anything now, and nobody reads what you say before your answer.`;
  return [
    ...(today === undefined ? [] : [labelled('host', `Today is ${today}.`)]),
    labelled('host', note),
    labelled('instruction', prompt, { from: 'operator' }),
    ...passedOn(message, received),
  ].join('\n');
}

/** Explains to the model that a routine runs, and that nobody can be asked (N4). */
function routineNote({ sender }: Message, task: Extract<Task, { kind: 'routine' }>): string {
  const { name, due, quiet, from } = task;
  const isForeign = from !== undefined && from.words !== 'typed';
  const missed = task.missed === undefined ? '' : ` It stands in for ${task.missed} times that were missed.`;
  const silent =
    quiet === true
      ? ' If there is nothing that they need to know, answer only NOTHING_TO_REPORT: then nothing is sent.'
      : '';
  return labelled(
    'host',
    `This is the routine ${JSON.stringify(name)} of ${notOurs(sender.name)}, due at ${localTime(due, sender.timezone ?? 'UTC')}.${missed} ` +
      `Nobody wrote anything now. Its task follows, ${isForeign ? 'quoted, as the person did not type it but agreed to it: do no more than that' : 'in the words it was set up with: do it'} and answer with the result. ` +
      `If it can not be done, begin your answer with TASK_FAILED and say why.${silent}`,
  );
}

function background(messages: readonly Message[], received: ReceivedOf): string {
  return around('background', heardWords(messages, received), {
    note: 'said here before, not by the requester',
  });
}

/** A question of a run that waits for this person. It is quoted, because a model wrote it. */
export function questionContent({ run, skill, question: asked }: Question): string {
  const note = `A run of the skill ${skill} asked this person what is quoted here. If their message answers it, call use_skill {"skill": "${skill}", "message": their answer in full, "resume": "${run}"}; if it is about something else, leave it.`;
  return [labelled('host', note), labelled('quote', asked, { from: `skill ${skill}` })].join('\n');
}

/** A quote with its files. `by` names a person who passed it on without own words. */
function quote(quoted: Quote, received: ReceivedOf, by?: string): readonly string[] {
  const { name, text, own, sender, note, attachments = [] } = quoted;
  const from = { from: own ? 'you' : notOurs(name), id: own ? undefined : sender };
  const words = [text, ...fileLines(attachments, received)].filter((line) => line !== '').join('\n');
  return [labelled('quote', words, { ...from, note, by }), ...fileTexts(attachments, received, from)];
}

/** Marks a name that would pass for the bot's (M11). */
function notOurs(name: string): string {
  return /^[\s\p{Cc}\p{Cf}]*(you|the bot)[\s\p{Cc}\p{Cf}]*$/iu.test(name) ? `${name} (a name)` : name;
}

function fileLines(attachments: readonly Attachment[], received: ReceivedOf): readonly string[] {
  return attachments.map((attachment) => `[${describeFile(attachment, received(attachment))}]`);
}

function describeFile(attachment: Attachment, got: Received | undefined): string {
  const { kind, name, mime, size, caption } = attachment;
  const below = caption === undefined ? '' : ` with the caption ${JSON.stringify(oneLine(caption, 200))}`;
  const file = `${kind} ${JSON.stringify(oneLine(name, 100))}${below}`;
  if (got === undefined) {
    const told = [mime, size === undefined ? undefined : byteSize(size)].filter(Boolean);
    return [file, ...told, 'not fetched: it is when somebody answers it with a question'].join(', ');
  }
  if (!got.ok) return `${file}, not read: ${got.reason}`;
  const shown =
    got.shown !== undefined
      ? 'shown above'
      : got.text !== undefined
        ? got.text.spoken === true
          ? `${got.text.whole ? '' : 'the beginning of '}its transcript is given`
          : textFollows(got.text)
        : got.unshown === undefined
          ? undefined
          : `not shown: ${got.unshown}`;
  return [file, got.words, byteSize(got.size), `at ${got.path}`, shown].filter(Boolean).join(', ');
}

function textFollows({ whole, cut, without }: NonNullable<(Received & { ok: true })['text']>): string {
  const besides = without === undefined ? '' : ` without its ${without}`;
  return `its ${whole ? 'text' : 'beginning'} follows${besides}${cut === undefined ? '' : ` (${cut})`}`;
}

function fileTexts(
  attachments: readonly Attachment[],
  received: ReceivedOf,
  from: LabelAttributes,
): readonly string[] {
  return attachments.flatMap((attachment) => {
    const got = received(attachment);
    if (got?.ok !== true || got.text === undefined) return [];
    return [labelled('file', got.text.text, { name: oneLine(attachment.name, 100), ...from })];
  });
}

import type { Conversation } from '../../core/conversation.ts';
import type { Message, Task } from '../../core/message.ts';
import { sayIn, type Say } from '../../core/texts/say.ts';
import { oneLine } from '../../lib/text/text.ts';
import type { Routine } from '../../store/routines.ts';

export type RoutineTask = Extract<Task, { kind: 'routine' }>;

/** How a quiet routine's answer ends if there is nothing to say (N6). */
export const nothingToReport = 'NOTHING_TO_REPORT';
/** How the model's answer begins if the task could not be done (N4). */
export const couldNotDo = 'TASK_FAILED';

/** A firing that is later than this says when it was due. */
const lateMs = 5 * 60_000;
const longestName = 60;

export function firingKey(id: string, due: number | string): string {
  return `routine:${id}:${due}`;
}

/** A routine's firing as a message in which its creator says the task, once for each key (N1, N3). */
export function firingMessage(
  { id, definition, last }: Routine,
  {
    key,
    place,
    now,
    ...when
  }: Readonly<{ key: string; place: Conversation; now: number; due: number; missed?: number; byHand?: true }>,
): Message {
  const { name, task, chatType, external, creator, reminder, quiet, skill, from } = definition;
  const skipped = last?.how === 'skipped' ? Number(last.note) : undefined;
  return {
    id: key,
    conversation: place,
    chatType,
    external,
    sender: creator,
    text: task,
    addressed: true,
    attachments: [],
    task: { kind: 'routine', id, name, reminder, quiet, skill, from, skipped, ...when },
    sentAt: now,
  };
}

/** A name without Markdown, as it is shown. */
export function plainName(words: string): string {
  return oneLine(words.replace(/[*_`[\]<>~|\\#@]/g, ' '), longestName).trim();
}

/** The lines above the answer of a firing: what it is, and whether it is late. */
export function headOf(task: RoutineTask, { sender, chatType, sentAt }: Message, zone: string): string {
  const say = sayIn(sender.language);
  const name = plainName(sender.name);
  const what =
    task.reminder !== true ? task.name : chatType === 'private' ? say`Reminder` : say`Reminder from ${name}`;
  return [`⏰ **${what}**`, ...lateNote(task, sentAt, say, sender.timezone ?? zone)].join('\n');
}

function lateNote(
  { due, missed, skipped, byHand }: RoutineTask,
  sentAt: number,
  say: Say,
  zone: string,
): readonly string[] {
  if (skipped !== undefined)
    return [`_${say`I was not running at ${skipped} earlier times, so I left them out.`}_`];
  if (byHand === true || (missed === undefined && sentAt - due < lateMs)) return [];
  const at = say.time(due, zone);
  return missed === undefined
    ? [`_${say`This was due at ${at}. I was not running then.`}_`]
    : [`_${say`This was due ${missed} times since ${at}. I was not running then, so this is one for all.`}_`];
}

export type RoutineAnswer = Readonly<{ how: 'answered' | 'quiet' | 'failed'; text: string }>;

/** Reads what the model's answer means (N4, N6). */
export function readRoutineAnswer(text: string, task: RoutineTask): RoutineAnswer {
  const said = text.trim();
  if (task.quiet === true && said.endsWith(nothingToReport)) return { how: 'quiet', text: '' };
  if (!said.startsWith(couldNotDo)) return { how: 'answered', text: said };
  return { how: 'failed', text: said.slice(couldNotDo.length).replace(/^[\s:.,–-]+/, '') };
}

import type { Button, Home } from '../../core/channel.ts';
import { sayOrigin } from '../../core/provenance.ts';
import type { Requester } from '../../core/tool.ts';
import type { PersonLocale } from '../../core/message.ts';
import { sayIn, type Say } from '../../core/texts/say.ts';
import { inlineCode, oneLine } from '../../lib/text/text.ts';
import { partKey } from '../../replies/replies.ts';
import type { Routine } from '../../store/routines.ts';
import type { Store } from '../../store/store.ts';
import { nextTimes } from './due-times.ts';
import { routineButtons } from './routine-buttons.ts';

const mostShown = 10;
const shownTask = 120;
const nextShown = 3;

/** The next times of a routine, in the reader's language and time zone (N2). Empty if it is not active. */
export function nextWords({ definition, dueAt, state }: Routine, reader: PersonLocale): readonly string[] {
  if (state !== 'active' || dueAt === undefined) return [];
  const zone = reader.timezone ?? definition.timezone;
  const later = nextTimes(definition.when, definition.timezone, dueAt, nextShown - 1);
  const say = sayIn(reader.language);
  return [dueAt, ...later].map((at) => say.time(at, zone));
}

/** Describes a routine and its state. "Delivered" is said only if the platform has confirmed it (N5). */
export async function describeRoutine(
  routine: Routine,
  reader: PersonLocale,
  outbox: Store['outbox'],
): Promise<string> {
  const { definition, state } = routine;
  const say = sayIn(reader.language);
  const [next] = nextWords(routine, reader);
  const stands = state === 'paused' ? say`paused` : next === undefined ? say`ended` : say`next: ${next}`;
  const last = await lastWords(routine, reader, say, outbox);
  const origin = definition.from && sayOrigin(definition.from, say);
  const what = `**${definition.name}** ${inlineCode(routine.id)}`;
  const lines = [
    `${what}: ${stands}`,
    ...(last === undefined ? [] : [last]),
    oneLine(definition.task, shownTask),
    ...(origin === undefined ? [] : [say`From: ${origin}`]),
  ];
  return lines.join('\n');
}

async function lastWords(
  { last, definition }: Routine,
  reader: PersonLocale,
  say: Say,
  outbox: Store['outbox'],
): Promise<string | undefined> {
  if (last === undefined) return undefined;
  const at = say.time(last.at, reader.timezone ?? definition.timezone);
  switch (last.how) {
    case 'quiet':
      return say`Last run: ${at}, nothing to report`;
    case 'skipped':
      return say`Last run: ${last.note ?? '1'} left out, as I was not running`;
    case 'stopped':
      return say`Last run: ${at}, not allowed any more`;
    case 'failed':
      return say`Last run: ${at}, failed`;
    case 'answered':
      return (await outbox.receipt(partKey(last.key, 0))) === undefined
        ? say`Last run: ${at}, not delivered yet`
        : say`Last run: ${at}, delivered`;
  }
}

type Shown = Readonly<{ text: string; buttons?: readonly Button[] }>;

/** The answer to `/routines`: a list with a button for each, or one routine with its own buttons. */
export async function showRoutines(
  here: readonly Routine[],
  reader: PersonLocale,
  outbox: Store['outbox'],
): Promise<Shown> {
  const say = sayIn(reader.language);
  if (here.length === 0)
    return {
      text: say`There are no routines here. Tell me what to do and when, for example: every Monday at 9, say what is new.`,
    };
  const shown = await Promise.all(
    here.slice(0, mostShown).map((one) => describeRoutine(one, reader, outbox)),
  );
  const more = here.length > mostShown ? [say`and ${here.length - mostShown} more`] : [];
  const [only] = here;
  const isOne = here.length === 1 && only !== undefined;
  return {
    text: [...(isOne ? [] : [say`Routines here:`]), ...shown, ...more].join('\n\n'),
    buttons: isOne
      ? routineButtons(only, say)
      : here.slice(0, mostShown).map(({ id, definition }) => ({
          label: oneLine(definition.name, 40),
          action: `routine:show:${id}`,
        })),
  };
}

/** A person's routines for their Home tab (H4). */
export async function routinesAtHome(
  own: readonly Routine[],
  reader: PersonLocale,
  outbox: Store['outbox'],
): Promise<Home> {
  const say = sayIn(reader.language);
  return Promise.all(
    own.slice(0, mostShown).map(async (routine) => ({
      markdown: `⏰ ${await describeRoutine(routine, reader, outbox)}`,
      buttons: routineButtons(routine, say),
    })),
  );
}

export function routinesReader({ language, timezone }: Requester): PersonLocale {
  return { language, timezone };
}

import { addressesTyped, type Message } from '../core/message.ts';
import type { Clock } from '../lib/clock.ts';
import { joinTaint, type Entry } from '../core/entry.ts';
import { labelled } from '../lib/text/escape-labels.ts';
import { localTime } from '../core/local-time.ts';
import type { ReceivedOf } from '../core/received.ts';
import type { Store } from '../store/store.ts';
import { taintOf, roomOf } from '../access/taint-of.ts';
import type { Question } from '../runs/questions.ts';
import { filesShown, questionContent, userContent, whyUnread, zoneTold } from '../runs/user-content.ts';

/** The model is told the time this often. */
const timeToldMs = 15 * 60_000;

const meanwhile =
  'The person wrote this while you were working. Take it into account: your answer is for all that they wrote.';
const edited =
  'The person changed an earlier message: now it says this. What it said before does not count any more.';
const unsent = 'Your last answer was not sent. Answer again.';

/** What a person said as a transcript entry, with what is needed to understand it. */
export async function userEntry(
  said: Readonly<{
    key: string;
    message: Message;
    transcript: string;
    invokesSkill: boolean;
    /** For the run of the skill. */
    context?: string | undefined;
    /** The item of the running turn. */
    joins?: string;
    /** The answer before it was not sent. */
    unsent?: boolean;
  }>,
  around: Readonly<{
    before: readonly Entry[];
    heard: readonly Message[];
    received: ReceivedOf;
    /** Questions of runs that it may answer. */
    waiting: readonly Question[];
  }>,
  {
    store,
    zone,
    clock,
  }: Readonly<{ store: Pick<Store, 'transcripts'>; zone: string; clock: Pick<Clock, 'now'> }>,
): Promise<Entry> {
  const { key, message, transcript, invokesSkill, context, joins } = said;
  const { before, heard, received, waiting } = around;
  const now = clock.now();
  const { timezone = zone } = message.sender;
  const isKnown = timezone === lastTold(before, now - timeToldMs);
  const today = isKnown ? {} : { today: localTime(now, timezone) };
  const words = userContent(message, { background: heard, received, ...today });
  const note = [
    ...(message.edits === undefined ? (joins === undefined ? [] : [meanwhile]) : [edited]),
    ...(said.unsent === true ? [unsent] : []),
  ].join(' ');
  const content = note === '' ? words : `${words}\n${labelled('host', note)}`;
  const files = filesShown(message, heard, received);
  const unread = invokesSkill ? undefined : whyUnread(message, received);
  // Instructions that were waited for arrive in a turn of their own.
  const { follows, marks: told, skill: about } = message.task?.kind === 'result' ? message.task : {};
  // Before `/new` it may have been private.
  const quoted =
    message.replyTo?.own === true || heard.some(({ sender }) => sender.own === true)
      ? await taintOf(store.transcripts, roomOf(transcript))
      : undefined;
  const marks = joinTaint(told, quoted);
  const urls = message.task === undefined ? addressesTyped(message) : [];
  return {
    kind: 'user',
    item: key,
    sender: message.sender.id,
    joins,
    content,
    context,
    about,
    follows,
    answers: waiting.length === 0 ? undefined : waiting.map(({ run }) => run),
    asked:
      waiting.length === 0
        ? undefined
        : waiting.map((each) => ({ skill: each.skill, text: questionContent(each) })),
    urls: urls.length === 0 ? undefined : urls,
    files: files.length === 0 ? undefined : files,
    unread,
    marks,
    at: clock.now(),
  };
}

/** The zone in which the model was told the time since then. */
function lastTold(before: readonly Entry[], since: number): string | undefined {
  return before
    .flatMap((entry) =>
      entry.kind === 'user' && typeof entry.content === 'string' && entry.at > since
        ? (zoneTold(entry.content) ?? [])
        : [],
    )
    .at(-1);
}

export function lastSaidAt(entries: readonly Entry[]): number | undefined {
  return entries.findLast((entry) => entry.kind === 'user')?.at;
}

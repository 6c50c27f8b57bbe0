import { createHash } from 'node:crypto';
import type { App } from '../../app.ts';
import { placeOf } from '../../audit/audit-event.ts';
import { expired, type PressEvent, type Pressed } from '../../core/feature.ts';
import type { Thumb, ThumbsBy } from '../../core/rating.ts';
import { sayIn } from '../../core/texts/say.ts';
import type { Rated } from '../../store/feedback.ts';
import type { OutboxRow } from '../../store/outbox.ts';
import type { AskWhy } from './ask-why.ts';
import type { EarlyThumbs } from './early-thumbs.ts';

/** Characters of an answer that are kept. */
const longestAnswer = 4_000;

/** How people rate answers on this channel. Undefined: they can't. */
export function thumbsOn(channel: string, { channels, config }: App): ThumbsBy | undefined {
  const usual = channels.get(channel)?.thumbs;
  const wanted = config().bot.feedback ?? usual;
  return usual === undefined || wanted === 'off' ? undefined : wanted;
}

/**
 * Takes a thumb under an answer of the agent; one on anything else is ignored. The presser may talk here, which was
 * decided just now. It is stored before the platform gets its acknowledgement.
 */
export async function giveThumb(
  event: PressEvent,
  words: readonly string[],
  deps: App & Readonly<{ why: AskWhy; keepEarly?: EarlyThumbs['keep'] }>,
): Promise<Pressed> {
  const [thumb, change] = words;
  const { press } = event;
  const { conversation, receipt, sender } = press;
  if ((thumb !== 'up' && thumb !== 'down') || receipt === undefined) return undefined;
  if (thumbsOn(conversation.channel, deps) === undefined) return undefined;
  const say = sayIn(sender.language);
  const answer = await deps.store.outbox.sentAs(conversation, receipt.id);
  // A press was on a button of ours, so the answer is too old. A reaction may be on anything.
  if (answer?.part.made === undefined) {
    if (answer === undefined && event.tell === undefined) await deps.keepEarly?.({ press, words });
    return event.tell && { told: say(expired) };
  }
  const isTaken = change !== undefined;
  const id = feedbackId(answer.key, sender.id);
  const given = await deps.store.feedback.give({
    ...{ id, sender: sender.id, thumb, at: press.at ?? deps.clock.now() },
    about: isTaken ? undefined : ratedOf(answer, receipt.id, { sender: sender.id, thumb }),
  });
  if (!given) return undefined;
  await deps.audit.record({
    event: 'feedback',
    verdict: isTaken ? 'taken back' : thumb,
    feedback: id,
    skills: answer.part.made.skills.map(({ name }) => name),
    ...placeOf({ ...press, sender: sender.id, kind: sender.kind, name: sender.name }),
  });
  if (thumb === 'down' && !isTaken) await deps.why.ask(event, id, answer);
  // Where the platform shows which thumb was pressed, there is nothing to tell.
  const isShown = deps.channels.get(conversation.channel)?.hasForms === true;
  return isShown || event.tell === undefined ? undefined : { told: say`Thank you. The last thumb counts.` };
}

/** The same for each thumb of a person on an answer, whichever of its messages they rate. */
function feedbackId(key: string, sender: string): string {
  const answer = key.replace(/#\d+$/, '');
  return createHash('sha256').update(`${answer}\n${sender}`).digest('hex').slice(0, 12);
}

/** What is kept of the answer. Words are kept only of who asked, and only with a thumb down. */
function ratedOf(
  { conversation, part }: OutboxRow,
  message: string,
  { sender, thumb }: Readonly<{ sender: string; thumb: Thumb }>,
): Rated | undefined {
  if (part.made === undefined) return undefined;
  const { asked, ...made } = part.made;
  const isOwn = asked?.by === sender && thumb === 'down';
  return {
    ...made,
    conversation,
    message,
    own: isOwn
      ? { question: asked.text, answer: part.markdown.slice(0, longestAnswer), from: asked.from }
      : undefined,
  };
}

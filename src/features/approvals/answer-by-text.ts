import type { App } from '../../app.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import { codedAnswer, plainWord, type PlainWord } from '../../core/plain-words.ts';
import { toSenderAlone } from '../../replies/replies.ts';
import type { Approvals, ApprovalAnswer } from './approvals.ts';

/** Milliseconds of tolerance, because Telegram gives times in whole seconds. */
const wholeSeconds = 999;

const answers = { yes: 'approve', no: 'deny', always: 'always' } as const satisfies Partial<
  Record<PlainWord, ApprovalAnswer>
>;

type Deps = Readonly<{ approvals: Approvals }> & App;

/**
 * Answers an open question outside the queue (Q4). Returns false if the message answers none. Without a mention a
 * question's code is heard only from those whom the question waits for, and everybody else gets no sign (T8, H10).
 */
export async function answerByText(message: Message, isAddressed: boolean, deps: Deps): Promise<boolean> {
  const { approvals, store, replies } = deps;
  const { sender, chatType } = message;
  const written = codedAnswer(message.text);
  const group =
    chatType === 'private' && written !== undefined
      ? await approvals.groupOf(written.code, sender.id)
      : undefined;
  const conversation = group ?? message.conversation;
  const who = { sender: sender.id, name: sender.name, language: sender.language };
  const from = { ...who, conversation, typed: true } as const;
  const isHeard = isAddressed || (written !== undefined && (await approvals.awaits(written.code, from)));
  const answer = isHeard ? (written ?? (await plainAnswer(message, store))) : undefined;
  if (answer === undefined) return false;
  const answered = await approvals.answer(answer.code, from, answers[answer.word]);
  if (answered.kind === 'unknown') return false;
  // If the answer was taken, the question itself shows the outcome.
  if (answered.kind !== 'taken') await replies.answer(message, answered.text, toSenderAlone(message));
  return true;
}

/** A plain yes or no counts only as this person's next message, while exactly one question waits for them (H11). */
async function plainAnswer(message: Message, store: Deps['store']): Promise<ReturnType<typeof codedAnswer>> {
  const { text, conversation, sender, sentAt } = message;
  const word = plainWord(text);
  if (word !== 'yes' && word !== 'no') return undefined;
  const theirs = (await store.pendingRequests.open(conversation)).filter(
    ({ requester }) => requester === sender.id,
  );
  const [request, ...more] = theirs;
  if (request?.kind !== 'approval' || more.length > 0 || sentAt + wholeSeconds < request.askedAt)
    return undefined;
  const { message: shown } = request.payload;
  if (typeof shown !== 'string' || (await store.outbox.receipt(shown)) === undefined) return undefined;
  return (await hasSpokenSince(message, request.askedAt, store)) ? undefined : { word, code: request.id };
}

async function hasSpokenSince(
  { id, conversation, sender }: Message,
  at: number,
  store: Deps['store'],
): Promise<boolean> {
  const queue = conversationKey(conversation);
  const waiting = (await store.inbox.waitingIn(queue)).some(
    ({ key, acceptedAt, message }) =>
      acceptedAt > at && key !== id && message?.sender.id === sender.id && message.task === undefined,
  );
  if (waiting) return true;
  const { entries } = await store.transcripts.read(await store.transcripts.current(queue));
  return entries.some(
    ({ entry }) =>
      entry.kind === 'user' && entry.sender === sender.id && entry.about === undefined && entry.at > at,
  );
}

import type { Approvals, ApprovalAnswer } from '../../approvals/approvals.ts';
import type { ConfirmAccounts } from '../../capabilities/confirm-accounts.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import type { Replies } from '../../replies/replies.ts';
import type { Store } from '../../store/store.ts';

/** Words in several languages that replace a button or a command (H11, H14). */
const words: Readonly<Record<'stop' | 'yes' | 'no' | 'always', ReadonlySet<string>>> = {
  stop: wordSet('stop stopp halt para parar pare detente arrête arrêtez стоп やめて 止めて 停 停止'),
  yes: wordSet('yes y yep yeah ja sí si oui sim да はい 是 是的'),
  no: wordSet('no n nope nein non não nao нет いいえ 不 否'),
  always: wordSet('always immer siempre toujours sempre всегда 常に 始终'),
};

/** Matches a word and a question's code with nothing else, as the question prints them (T8). */
const coded = /^\s*`?([\p{L}\p{M}]+)\s+`?([0-9A-Za-z]{8})`?\s*$/u;

/** Milliseconds of tolerance, because Telegram gives times in whole seconds. */
const wholeSeconds = 999;

const answers = { yes: 'approve', no: 'deny', always: 'always' } as const satisfies Record<
  string,
  ApprovalAnswer
>;
type Answer = Readonly<{ word: keyof typeof answers; code: string }>;

export type AnswerDeps = Readonly<{
  approvals: Pick<Approvals, 'answer' | 'awaits'>;
  confirmations: Pick<ConfirmAccounts, 'answer'>;
  store: Pick<Store, 'pendingRequests' | 'inbox' | 'outbox' | 'transcripts'>;
  replies: Pick<Replies, 'answer'>;
}>;

/** Answers an open question outside the queue (Q4). Returns false if the message answers none. */
export async function answerByText(message: Message, deps: AnswerDeps): Promise<boolean> {
  const answer = codedAnswer(message.text) ?? (await plainAnswer(message, deps.store));
  if (answer === undefined) return false;
  const { word, code } = answer;
  const from = personOf(message);
  const answered = await deps.approvals.answer(code, from, answers[word]);
  if (answered.kind === 'unknown') {
    if (word === 'always') return false;
    const confirmed = await deps.confirmations.answer(code, from, word === 'yes');
    if (confirmed.kind === 'refused') await deps.replies.answer(message, confirmed.text);
    return confirmed.kind !== 'unknown';
  }
  // If the answer was taken, the question itself shows the outcome.
  if (answered.kind !== 'taken') await deps.replies.answer(message, answered.text);
  return true;
}

/**
 * Without a mention, a question's code is heard from those whom the question waits for. Everybody else gets no sign
 * (T8, H10).
 */
export async function answerUnaddressed(message: Message, deps: AnswerDeps): Promise<boolean> {
  const code = codedAnswer(message.text)?.code;
  if (code === undefined || !(await deps.approvals.awaits(code, personOf(message)))) return false;
  return answerByText(message, deps);
}

function personOf({ sender: { id, name, language }, conversation }: Message) {
  return { sender: id, name, conversation, language };
}

function codedAnswer(text: string): Answer | undefined {
  const [, typed = '', code = ''] = coded.exec(text.normalize('NFC')) ?? [];
  const word = plainWord(typed);
  return word === undefined || word === 'stop' ? undefined : { word, code: code.toUpperCase() };
}

/** A plain yes or no counts only as this person's next message, while exactly one question waits for them (H11). */
async function plainAnswer(message: Message, store: AnswerDeps['store']): Promise<Answer | undefined> {
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
  store: AnswerDeps['store'],
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

export function plainWord(text: string): keyof typeof words | undefined {
  const said = text
    .normalize('NFC')
    .trim()
    .replace(/[\s.!。！]+$/u, '')
    .toLowerCase();
  return (Object.keys(words) as (keyof typeof words)[]).find((kind) => words[kind].has(said));
}

function wordSet(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}

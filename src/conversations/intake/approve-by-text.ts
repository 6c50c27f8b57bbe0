import type { Approvals, AskAnswer } from '../../approvals/approvals.ts';
import type { ConfirmAccounts } from '../../capabilities/confirm-accounts.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import type { Replies } from '../../replies/replies.ts';
import type { Store } from '../../store/store.ts';

/** Words that do what a button or command does (H11, H14). */
const words: Readonly<Record<'stop' | 'yes' | 'no', ReadonlySet<string>>> = {
  stop: new Set([
    'stop',
    'stopp',
    'halt',
    'para',
    'parar',
    'pare',
    'detente',
    'arrête',
    'arrêtez',
    'стоп',
    'やめて',
    '止めて',
    '停',
    '停止',
  ]),
  yes: new Set(['yes', 'y', 'yep', 'yeah', 'ja', 'sí', 'si', 'oui', 'sim', 'да', 'はい', '是', '是的']),
  no: new Set(['no', 'n', 'nope', 'nein', 'non', 'não', 'nao', 'нет', 'いいえ', '不', '否']),
};

/** For platforms without buttons (T8). */
const answer = /^\s*(yes|no|always)\s+`?([0-9A-Z]{8})`?\s*$/i;

/** Telegram tells times in whole seconds. */
const wholeSeconds = 999;

const answers: Readonly<Record<string, AskAnswer>> = { yes: 'approve', no: 'deny', always: 'always' };

/** Takes a text that answers what the bot asked, outside the queue (Q4); false if it is none. */
export function createApproveByText(options: {
  approvals: Approvals;
  confirmations: Pick<ConfirmAccounts, 'answer'>;
  store: Pick<Store, 'asks' | 'inbox' | 'outbox' | 'transcripts'>;
  replies: Pick<Replies, 'answer'>;
}) {
  const { approvals, confirmations, store, replies } = options;

  /** A plain yes or no counts if it is the next thing this person wrote and only one thing is open (H11). */
  async function plainAnswer(message: Message): Promise<readonly [string, string]> {
    const { text, conversation, sender, sentAt } = message;
    const word = plainWord(text);
    if (word !== 'yes' && word !== 'no') return ['', ''];
    const theirs = (await store.asks.open(conversation)).filter(({ requester }) => requester === sender.id);
    const [ask, ...more] = theirs;
    if (ask?.kind !== 'approval' || more.length > 0 || sentAt + wholeSeconds < ask.askedAt) return ['', ''];
    const { message: shown } = ask.payload;
    if (typeof shown !== 'string' || (await store.outbox.receipt(shown)) === undefined) return ['', ''];
    return (await hasSpokenSince(message, ask.askedAt)) ? ['', ''] : [word, ask.id];
  }

  /** Then the word may be about that. */
  async function hasSpokenSince({ id, conversation, sender }: Message, at: number): Promise<boolean> {
    const lane = conversationKey(conversation);
    const waiting = (await store.inbox.waitingIn(lane)).some(
      ({ key, acceptedAt, message }) =>
        acceptedAt > at && key !== id && message?.sender.id === sender.id && message.task === undefined,
    );
    if (waiting) return true;
    const { entries } = await store.transcripts.read(await store.transcripts.current(lane));
    return entries.some(
      ({ entry }) =>
        entry.kind === 'user' && entry.sender === sender.id && entry.about === undefined && entry.at > at,
    );
  }

  return async (message: Message): Promise<boolean> => {
    const [, typed = '', named = ''] = answer.exec(message.text) ?? [];
    const [word, code] = named === '' ? await plainAnswer(message) : [typed, named];
    if (code === '') return false;
    const { sender, conversation } = message;
    const { language } = sender;
    const from = {
      sender: sender.id,
      name: sender.name,
      conversation,
      language,
    };
    const value = answers[word.toLowerCase()] ?? 'deny';
    const answered = await approvals.answer(code.toUpperCase(), from, value);
    if (answered.kind === 'unknown') {
      if (value === 'always') return false;
      const confirmed = await confirmations.answer(code.toUpperCase(), from, value === 'approve');
      if (confirmed.kind === 'refused') await replies.answer(message, confirmed.text);
      return confirmed.kind !== 'unknown';
    }
    // The question shows its outcome; only what did not count is told.
    if (answered.kind !== 'taken') await replies.answer(message, answered.text);
    return true;
  };
}

/** The one of these words that is the whole text. */
export function plainWord(text: string): keyof typeof words | undefined {
  const said = text
    .normalize('NFC')
    .trim()
    .replace(/[\s.!。！]+$/u, '')
    .toLowerCase();
  return (Object.keys(words) as (keyof typeof words)[]).find((kind) => words[kind].has(said));
}

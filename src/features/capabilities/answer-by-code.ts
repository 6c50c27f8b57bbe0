import type { Message } from '../../core/message.ts';
import { codedAnswer } from '../../core/plain-words.ts';
import type { Replies } from '../../replies/replies.ts';
import type { ConfirmAccounts } from './confirm-accounts.ts';

/** Takes a typed yes or no with the code of a question about an account (C6). Returns false if the message is none. */
export async function answerByCode(
  message: Message,
  confirmations: ConfirmAccounts,
  replies: Replies,
): Promise<boolean> {
  const { word, code = '' } = codedAnswer(message.text) ?? {};
  if (word !== 'yes' && word !== 'no') return false;
  const { sender, conversation } = message;
  const from = { sender: sender.id, conversation, language: sender.language };
  const confirmed = await confirmations.answer(code, from, word === 'yes');
  if (confirmed.kind === 'refused') await replies.answer(message, confirmed.text);
  return confirmed.kind !== 'unknown';
}

import type { Message } from '../../core/message.ts';
import type { Approvals, AskAnswer } from '../gates/approvals.ts';
import type { ConfirmAccounts } from '../capabilities/confirm-accounts.ts';
import type { Voice } from '../voice.ts';

/** `yes CODE`, `no CODE` or `always CODE`, for where buttons don't work (T8). */
const answer = /^\s*(yes|no|always)\s+`?([0-9A-Z]{8})`?\s*$/i;

const answers: Readonly<Record<string, AskAnswer>> = { yes: 'approve', no: 'deny', always: 'always' };

/** Takes a text that answers what the bot asked, outside the lane (Q4); false when the message is none. */
export function createAnswerAsks(options: {
  approvals: Approvals;
  confirmations: Pick<ConfirmAccounts, 'answer'>;
  voice: Voice;
}) {
  const { approvals, confirmations, voice } = options;

  return async (message: Message): Promise<boolean> => {
    const [, word = '', code = ''] = answer.exec(message.text) ?? [];
    if (code === '') return false;
    const { sender, conversation } = message;
    const { language } = sender;
    const from = {
      sender: sender.id,
      name: sender.name,
      conversation,
      ...(language === undefined ? {} : { language }),
    };
    const value = answers[word.toLowerCase()] ?? 'deny';
    const answered = await approvals.answer(code.toUpperCase(), from, value);
    if (answered.kind === 'unknown') {
      if (value === 'always') return false;
      const confirmed = await confirmations.answer(code.toUpperCase(), from, value === 'approve');
      if (confirmed.kind === 'refused') await voice.answer(message, confirmed.text);
      return confirmed.kind !== 'unknown';
    }
    // What was asked is changed to the outcome; only what did not count needs a word of its own.
    if (answered.kind !== 'taken') await voice.answer(message, answered.text);
    return true;
  };
}

import { z } from 'zod';
import type { Desk } from '../../app.ts';
import { conversationKey } from '../../core/conversation.ts';
import { OperatorError } from '../../core/errors.ts';
import { changes, noInput, reads, textInput } from '../../core/operation.ts';
import { sayIn } from '../../core/texts/say.ts';
import { budgetName } from '../../limits/dollar-budgets.ts';
import type { PendingRequest } from '../../store/pending-requests.ts';
import { moneyOf, privatelyTo } from './money-question.ts';
import type { MoneyQuestions } from './money-questions.ts';

const moneyAnswer = z.object({ id: textInput, answer: z.enum(['allow', 'stop']), by: textInput });

/** What operators can do about questions for more money (G6). `answer` is undefined while no bot runs. */
export function moneyOperations(desk: Desk, answer?: MoneyQuestions['answer']) {
  return {
    'money list': reads(noInput, async () =>
      (await desk.store.pendingRequests.waiting()).flatMap(waitingMoney),
    ),
    /** Answers a question, judged like a press of that person in their direct message. */
    'money answer': {
      ...changes(moneyAnswer, (asked) => takeAnswer(asked, desk, answer)),
      offline: false,
    },
  };
}

/** The question as operators see it; nothing if the request is about something else. `budget` is Markdown. */
function waitingMoney(request: PendingRequest) {
  const money = moneyOf(request);
  if (money === undefined) return [];
  const { id, requester, conversation, askedAt, expiresAt } = request;
  const { spent, next, left, usd, skill = '' } = money;
  return [
    {
      ...{ id, requester, askedAt, expiresAt, spent, next, left, usd, skill },
      conversation: conversationKey(conversation),
      budget: budgetName(money, sayIn('en'), 'approver'),
    },
  ];
}

async function takeAnswer(
  { id, answer, by }: z.output<typeof moneyAnswer>,
  { store, users }: Desk,
  take: MoneyQuestions['answer'] | undefined,
): Promise<Readonly<{ text: string }>> {
  const request = await store.pendingRequests.find(id);
  const unknown = new OperatorError(`there is no question about money ${id}`);
  if (request === undefined || moneyOf(request) === undefined || take === undefined) throw unknown;
  const may = await users.mayAct({
    ...{ conversation: privatelyTo(by), chatType: 'private' },
    sender: { id: by, kind: 'person' },
  });
  if (!may.allowed) throw new OperatorError(may.reason);
  const answered = await take(id, { id: by }, answer);
  if (answered.kind === 'taken') return { text: answered.text };
  throw answered.kind === 'unknown' ? unknown : new OperatorError(answered.text.replaceAll('`', ''));
}

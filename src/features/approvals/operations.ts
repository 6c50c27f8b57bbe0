import { z } from 'zod';
import type { Desk } from '../../app.ts';
import { conversationKey, isShared } from '../../core/conversation.ts';
import { OperatorError } from '../../core/errors.ts';
import { changes, noInput, reads, textInput } from '../../core/operation.ts';
import { skilletHere } from '../../core/skillet-here.ts';
import type { PendingRequest } from '../../store/pending-requests.ts';
import { textOfJson } from './approval-question.ts';
import type { Approvals } from './approvals.ts';
import { listRules, type StandingRules } from './standing-rules.ts';

/** A call that waits for approval, as operators see it. */
export type WaitingApproval = Pick<PendingRequest, 'id' | 'requester' | 'askedAt' | 'expiresAt'> &
  Readonly<{
    conversation: string;
    tool: string;
    skill: string;
    /** The call's input in Markdown; empty for a direct message. */
    input: string;
    isDirect: boolean;
    /** True if its requester can't approve it (T8). */
    fourEyes: boolean;
  }>;

const approvalAnswer = z.object({
  id: textInput,
  answer: z.enum(['approve', 'deny']),
  by: textInput,
});

/** What operators can do about questions and standing approvals. `answer` is undefined while no bot runs. */
export function approvalOperations(
  desk: Desk,
  rules: StandingRules,
  definitionHashes: () => Promise<ReadonlyMap<string, string>>,
  answer?: Approvals['answer'],
) {
  const { store } = desk;
  return {
    'approval list': reads(noInput, async () =>
      (await store.pendingRequests.waiting())
        .filter(({ kind }) => kind === 'approval')
        .map(toWaitingApproval),
    ),
    /** Answers an approval, judged like a press of that person (S11, T8). */
    'approval answer': {
      ...changes(approvalAnswer, (asked) => answerApproval(asked, desk, answer)),
      offline: false,
    },
    'policy list': reads(noInput, async () => listRules(await rules.list(), await definitionHashes())),
    'policy revoke': changes(textInput, async (id) => {
      const gone = await rules.revoke(id);
      if (gone === undefined)
        throw new OperatorError(`there is no rule ${id}: see \`${skilletHere()} policy list\``);
      return gone;
    }),
  };
}

async function answerApproval(
  { id, answer, by }: z.output<typeof approvalAnswer>,
  { store, users }: Desk,
  take: Approvals['answer'] | undefined,
): Promise<Readonly<{ text: string }>> {
  const request = await store.pendingRequests.find(id);
  if (request?.kind !== 'approval' || take === undefined)
    throw new OperatorError(`there is no approval ${id}`);
  const { conversation, requester } = request;
  if (request.state === 'open') {
    const [item] = await store.inbox.waitingIn(conversationKey(conversation));
    // The kind of chat is unknown if its message can't be read, and then it is judged like a group.
    const chatType = item?.message?.chatType ?? 'unknown';
    const may = await users.mayAct({ conversation, chatType, sender: { id: by, kind: 'person' } });
    if (!may.allowed) throw new OperatorError(may.reason);
    if (answer === 'approve' && by !== requester && isAskedDirectly(request))
      throw new OperatorError(
        `Only ${requester} can approve this: nobody else can read what it is called with. You can deny it.`,
      );
  }
  const answered = await take(id, { sender: by, conversation }, answer);
  if (answered.kind === 'taken') return { text: answered.text };
  throw new OperatorError(
    answered.kind === 'unknown' ? `there is no approval ${id}` : answered.text.replaceAll('`', ''),
  );
}

function toWaitingApproval(request: PendingRequest): WaitingApproval {
  const { id, requester, askedAt, expiresAt, conversation, payload } = request;
  const isDirect = isAskedDirectly(request);
  return {
    ...{ id, requester, askedAt, expiresAt, isDirect, fourEyes: payload['fourEyes'] === true },
    conversation: conversationKey(conversation),
    tool: textOfJson(payload['tool']),
    skill: textOfJson(payload['skill']),
    input: isDirect ? '' : textOfJson(payload['input']),
  };
}

/** Whether only its requester can read the question, so that nobody else can approve the call (S8). */
function isAskedDirectly({ payload: { chatType } }: PendingRequest): boolean {
  return !isShared({ chatType });
}
